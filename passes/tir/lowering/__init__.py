"""The steps of `tir-lower-blocks`, in the order in which they run."""
