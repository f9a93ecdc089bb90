"""The parts of `tir-mark-in-place`: where a kernel accesses its arguments, and what equal indices
say about the loops.
"""
