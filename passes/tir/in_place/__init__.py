"""The parts of `tir-mark-in-place`: accesses to arguments, and equations over loop variables.

The equations hold when two accesses meet.
"""
