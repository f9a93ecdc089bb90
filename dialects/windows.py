"""Window arithmetic in one dimension, for the dialects with convolutions and poolings."""

from __future__ import annotations


def extent(kernel: int, dilation: int = 1) -> int:
    """Return the number of input elements that a dilated window spans."""
    return (kernel - 1) * dilation + 1


def positions(size: int, kernel: int, stride: int, dilation: int = 1) -> int:
    """Return the number of window positions in an input of `size` elements, padding included.

    The result is zero or negative if the window does not fit.
    """
    return (size - extent(kernel, dilation)) // stride + 1


def spread(size: int, kernel: int, stride: int, dilation: int = 1) -> int:
    """Return the output size of a transposed convolution before its padding is cropped."""
    return (size - 1) * stride + extent(kernel, dilation)
