"""Importer of graphs of ATen calls, from torch.export and torch.compile, to the nn dialect."""

from .importer import import_fx

__all__ = ["import_fx"]
