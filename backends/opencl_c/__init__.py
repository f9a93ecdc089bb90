"""Prints lowered `tir` kernels as OpenCL C 1.2."""

from __future__ import annotations

from .emit import emit

__all__ = ["emit"]
