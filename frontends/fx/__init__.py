"""Graphs of ATen calls, as torch.export and torch.compile write them, to the nn dialect."""

from .importer import import_fx

__all__ = ["import_fx"]
