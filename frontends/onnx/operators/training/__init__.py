"""Operators of training: random numbers, and steps of optimisers."""

from .optimisers import TABLE as OPTIMISERS
from .randomness import TABLE

__all__ = ["OPTIMISERS", "TABLE"]
