"""The parts of `tir-mark-in-place`: a kernel's accesses to its arguments, and equations over loop
variables that follow when two accesses meet.
"""
