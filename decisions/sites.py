"""Sites: the places in a network where clopt decides between ways to compute something."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class SiteKind(Enum):
    """What is decided; the value is the first word of a line in a file of choices."""

    FORM = "form"
    """The form of a convolution: `direct`, `winograd M` by transforms of M x M results, or `matmul`
    for windows of one point. The form of a product of stacked matrices: `stacked`, or `flat`."""
    LAYOUT = "layout"
    """How a value between kernels is stored: `plain`, or a `#nn.layout`."""
    OFFLOAD = "offload"
    """Who computes a value: `kernels`, an accelerator by its name, or `NAME then kernels`."""
    GROUP = "group"
    """Whether an operation joins the kernel of its consumer: `merged`, or `apart`."""
    OPERANDS = "operands"
    """The operands of a kernel: `copied` into layouts that suit it, or read as `stored`."""
    FUSION = "fusion"
    """Whether a kernel computes its operand strip by strip: `joined`, or two kernels `apart`."""
    ATTENTION = "attention"
    """Whether one kernel computes the scores of attention and uses them: `joined` or `apart`."""
    BORDER = "border"
    """The border of a window's operand: padded in `memory`, or tested in the `loops`."""
    PLACE = "place"
    """A slice or a concatenation: a `part` of another value's memory, or a `kernel` that copies."""
    PLAN = "plan"
    """The schedule of a kernel: a `#tir.plan`."""
    LAUNCH = "launch"
    """Whether a small kernel shares the launch of one before it: `shared` or `own`."""


@dataclass(frozen=True)
class Site:
    """A place where something is decided."""

    kind: SiteKind
    digest: str
    """A digest of what is computed there, without names."""
    number: int | None = None
    """The number among equal computations in program order, from 1; None stands for all."""

    @classmethod
    def parse(cls, kind: str, digest: str) -> Site:
        """Return the site of two words. Raise ValueError if they name none."""
        known = [each.value for each in SiteKind]
        if kind not in known:
            raise ValueError(f"{kind} is not a kind of decision; the kinds are {', '.join(known)}")
        name, mark, number = digest.partition("#")
        if mark and not (number.isdecimal() and int(number) > 0):
            raise ValueError(f"{digest} must end with #1, #2 and so on")
        return cls(SiteKind(kind), name, int(number) if mark else None)

    @property
    def of_all(self) -> Site:
        """The site that stands for all equal computations."""
        return Site(self.kind, self.digest)

    @property
    def text(self) -> str:
        """The digest, followed by `#` and the number."""
        return self.digest if self.number is None else f"{self.digest}#{self.number}"

    def __str__(self) -> str:
        return f"{self.kind.value} {self.text}"
