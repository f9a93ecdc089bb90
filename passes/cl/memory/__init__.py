"""Where tensors lie in memory, and in which order commands need least of it: on numbers alone."""

from .order import Step, order
from .plan import plan
from .share import share
from .tensors import Plan, Tensor, lower_bound

__all__ = ["Plan", "Step", "Tensor", "lower_bound", "order", "plan", "share"]
