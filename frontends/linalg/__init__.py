"""Importer of linalg on tensors, as other compilers print it, to the nn dialect."""

from .importer import import_linalg

__all__ = ["import_linalg"]
