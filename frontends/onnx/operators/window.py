"""The window attributes that convolutions and poolings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..node import NodeContext

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


class ResolvedWindow(NamedTuple):
    """A window with explicit padding: all begins, then all ends."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]


def spatial_rank(node: NodeContext) -> int:
    """Return the number of spatial dimensions of the first input, which must be 1 to 3."""
    rank = node.rank() - 2
    if not 1 <= rank <= 3:
        node.refuse(f"its input must have rank 3 to 5 (1 to 3 spatial dimensions), not {rank + 2}.")
    return rank


def read_lengths(node: NodeContext, name: str, length: int, default: int) -> tuple[int, ...]:
    """Return a list attribute, which must have `length` entries, or copies of `default`."""
    values = node.integers(name)
    if values is None:
        return (default,) * length
    if len(values) != length:
        node.refuse(f"{name} has {len(values)} entries; expected {length}.")
    return values


def read_kernel(node: NodeContext, weights: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the kernel shape, which must equal the shape of the weights if there are any."""
    rank = spatial_rank(node)
    given = node.integers("kernel_shape")
    if weights is None and given is None:
        node.refuse("the attribute 'kernel_shape' is missing.")
    kernel = tuple(given if given is not None else weights or ())
    if weights is not None and kernel != tuple(weights):
        node.refuse(
            f"kernel_shape {list(kernel)} differs from the shape of the weights, {list(weights)}."
        )
    if len(kernel) != rank:
        node.refuse(
            f"the kernel has {len(kernel)} dimensions, but the input has {rank} spatial dimensions."
        )
    return kernel


def read_window(
    node: NodeContext, weights: Sequence[int] | None = None, dilated: bool = True
) -> ResolvedWindow:
    """Return the window of a convolution or pooling over the first input."""
    kernel = read_kernel(node, weights)
    rank = len(kernel)
    strides = read_lengths(node, "strides", rank, 1)
    dilations = read_lengths(node, "dilations", rank, 1) if dilated else (1,) * rank
    pads = read_lengths(node, "pads", 2 * rank, 0)
    auto_pad = node.choice("auto_pad", "NOTSET", AUTO_PADS)
    if auto_pad == "VALID":
        pads = (0,) * (2 * rank)
    if auto_pad.startswith("SAME") and min(strides) > 0:
        pads = same_pads(node.shape()[2:], kernel, strides, dilations, auto_pad)
    return ResolvedWindow(kernel, strides, dilations, pads)


def same_pads(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    auto_pad: str,
) -> tuple[int, ...]:
    """Return the padding for a result of ceil(size / stride); SAME_UPPER pads the end more."""
    totals = [
        max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        for n, k, s, d in zip(sizes, kernel, strides, dilations, strict=True)
    ]
    return split_pads(totals, end_larger=auto_pad == "SAME_UPPER")


def split_pads(totals: Sequence[int], end_larger: bool) -> tuple[int, ...]:
    """Distribute each total to begin and end; the larger side gets one more of an odd total."""
    smaller = [total // 2 for total in totals]
    larger = [total - half for total, half in zip(totals, smaller, strict=True)]
    return (*smaller, *larger) if end_larger else (*larger, *smaller)
