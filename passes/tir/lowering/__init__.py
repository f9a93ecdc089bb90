"""The steps of `tir-lower-blocks`, in the order of their use."""
