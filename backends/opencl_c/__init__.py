"""Printer of lowered `tir` kernels as OpenCL C 1.2.

`build` executes a kernel symbolically and produces a graph of expressions in nested blocks
(`values`). Indices become normalised linear forms (`index`), and buffers become arrays or registers
(`storage`, `memory`). Images and packed buffers are accessed by texel (`texels`). Operations are
looked up in tables (`builtins`, `operations`, `expressions`). `placement` decides which expressions
become variables, `text` prints expressions and `printer` prints statements.
"""

from __future__ import annotations

from .emit import emit

__all__ = ["emit"]
