"""Planning of offsets and command order on plain numbers, without any IR."""

from .order import QueueStep, order
from .plan import plan
from .share import share
from .tensors import ArenaPlan, LiveTensor, lower_bound

__all__ = ["ArenaPlan", "LiveTensor", "QueueStep", "lower_bound", "order", "plan", "share"]
