"""Sizes of windows and of their results in one dimension, for the dialects with convolutions."""

from __future__ import annotations


def extent(kernel: int, dilation: int = 1) -> int:
    """The number of input elements that a dilated window spans."""
    return (kernel - 1) * dilation + 1


def positions(size: int, kernel: int, stride: int, dilation: int = 1) -> int:
    """The number of places of a window in an input of `size`, padding included.

    It is zero or less if the window does not fit.
    """
    return (size - extent(kernel, dilation)) // stride + 1


def spread(size: int, kernel: int, stride: int, dilation: int = 1) -> int:
    """The result's size of a transposed convolution, before padding is cut off."""
    return (size - 1) * stride + extent(kernel, dilation)
