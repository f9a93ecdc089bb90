"""Prints lowered `tir` kernels as OpenCL C 1.2.

`build` executes a kernel symbolically and leaves a graph of expressions in blocks (`values`), with
indices as normalised sums (`index`), buffers as arrays or registers (`storage`, `memory`), images
and packed buffers by the texel (`texels`) and operations by table (`builtins`, `operations`,
`expressions`). `placement` decides what becomes a variable, `text` writes expressions, `printer`
statements.
"""

from __future__ import annotations

from .emit import emit

__all__ = ["emit"]
