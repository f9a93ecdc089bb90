"""Kernels with the stages of networks, in random sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from support.tir import kernels

_KERNELS: tuple[tuple[Callable[..., str], tuple[int, ...]], ...] = (
    (kernels.matmul, (9, 9, 5)),
    (kernels.conv_pool, (2, 5, 9, 3)),
    (kernels.normalise, (5, 9)),
    (kernels.total, (5, 12)),
    (kernels.transpose, (5, 5)),
)
"""Each with its largest sizes."""


def known_kernel(rng: np.random.Generator) -> str:
    """The text of a `tir.func`."""
    make, largest = _KERNELS[rng.integers(len(_KERNELS))]
    return make(*(int(rng.integers(1, size + 1)) for size in largest))
