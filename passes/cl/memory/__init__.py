"""Planning of offsets and of the order of commands, on plain numbers without any IR."""

from .order import Step, order
from .plan import plan
from .share import share
from .tensors import Plan, Tensor, lower_bound

__all__ = ["Plan", "Step", "Tensor", "lower_bound", "order", "plan", "share"]
