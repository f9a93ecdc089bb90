"""A proof that a network for larger sizes also computes the results for smaller ones.

A network imported at batch 8 computes the results for batch 5 in its first rows if no row depends
on others. The proof compares both imports, operation by operation. Each value of the smaller
network must be a part of its counterpart: `parts` says at which indices. This holds for the results
of an operation if it holds for the operands, and its naive loop nests at both sizes differ only in
the extents of spatial loops and buffers. Then the same text computes each element of the smaller
result from the same elements of the operands, in the same order.

Where an operation combines the elements of an axis whose size differs, the larger network can be
changed: it reads neutral elements beyond the smaller size (`masks`), or takes elements by indices
(`moves`). Such masks and indices are further inputs, whose arrays depend on the sizes alone.
"""

from .apply import apply_changes
from .proof import DifferentElementsError, LargerNetwork, check_restriction

__all__ = [
    "DifferentElementsError",
    "LargerNetwork",
    "apply_changes",
    "check_restriction",
]
