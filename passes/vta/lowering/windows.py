"""One dimension of a convolution: the input that a piece of the result reads, and its taps."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.windows import extent


@dataclass(frozen=True)
class Span:
    """`count` input elements from `first` on, `step` apart; some may be padding."""

    first: int
    count: int
    step: int

    def clipped(self, size: int) -> tuple[int, int, int]:
        """Return the number of elements before, inside and after an input of `size`."""
        before = min(self.count, max(0, -(-max(0, -self.first) // self.step)))
        inside = sum(0 <= self.first + i * self.step < size for i in range(self.count))
        return before, inside, self.count - before - inside


@dataclass(frozen=True)
class Phase:
    """Elements of a piece with the same taps.

    They are `start`, `start + step`, ... in the piece. Tap k of element i reads element `offset + i
    * source_step` of the span, where `taps` are pairs of k and offset.
    """

    start: int
    step: int
    count: int
    source_step: int
    taps: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class AxisWindow:
    """A window in one dimension; `before` are padding zeros, or elements cropped if transposed.

    With `skips`, a span skips elements that no tap reads.
    """

    size: int
    result: int
    kernel: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0
    transposed: bool = False
    skips: bool = False

    def span(self, begin: int, end: int) -> Span:
        """Return the input that elements `begin` to `end` (exclusive) of the result read."""
        window = extent(self.kernel, self.dilation)
        if self.transposed:
            first = -(-(begin + self.before - window + 1) // self.stride)
            last = (end - 1 + self.before) // self.stride
            # At least one element is not padding: a load cannot consist of padding alone.
            first, last = min(first, self.size - 1), max(last, 0)
            return Span(first, last - first + 1, 1)
        first = begin * self.stride - self.before
        if self.skips and self.kernel == 1:
            return Span(first, end - begin, self.stride)
        return Span(first, (end - begin - 1) * self.stride + window, 1)

    def phases(self, begin: int, end: int) -> list[Phase]:
        """Return the phases of elements `begin` to `end` (exclusive) of the result."""
        span = self.span(begin, end)
        if not self.transposed:
            taps = tuple((k, k * self.dilation) for k in range(self.kernel))
            return [Phase(0, 1, end - begin, self.stride // span.step, taps)]
        phases: list[Phase] = []
        for start in range(min(self.stride, end - begin)):
            place = begin + start + self.before
            taps = tuple(
                (k, (place - k * self.dilation) // self.stride - span.first)
                for k in range(self.kernel)
                if (place - k * self.dilation) % self.stride == 0
            )
            if taps:
                count = -(-(end - begin - start) // self.stride)
                phases.append(Phase(start, self.stride, count, 1, taps))
        return phases
