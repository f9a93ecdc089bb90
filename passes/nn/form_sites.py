"""Sites of forms: the convolutions that are computed directly or by transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ...decisions import Choices, Site, SiteKind
from ...decisions.alternatives import Saving
from ...dialects import nn
from ...messages.explanations import Reason, Why
from ..locations import node_name
from .structure import digest
from .winograd import ConvByTransforms

_VERSION = 1
"""Version of the code generated for a convolution in a form.

Raising it invalidates the stored records of forms.
"""

_DIRECT = "direct"
_WINOGRAD = "winograd"


@dataclass(frozen=True, eq=False)
class ConvolutionSite:
    """A convolution that may have one of several forms."""

    op: nn.ConvOp
    transforms: ConvByTransforms

    @cached_property
    def digest(self) -> str:
        """Return a digest of the computation, without names and bias: the key of its records."""
        op, by = self.op, self.transforms
        types = (nn.plain_type(value.type) for value in (op.x, op.w, op.result))
        properties = sorted(
            (name, value) for name, value in op.properties.items() if name != "operandSegmentSizes"
        )
        words = (_VERSION, by.lanes, by.in_texels, *types, *(f"{n} {v}" for n, v in properties))
        return digest(map(str, words))

    @cached_property
    def usual(self) -> str:
        """Return the form that the target's cost model chooses."""
        return form_text(self.transforms.usual(self.op))

    def reason(self) -> Reason:
        """Return what the forms save by the model."""
        saved = {form: self.transforms.saved(self.op, tile) for form, tile in self.tiles.items()}
        times = {form: 0.0 - us for form, us in saved.items()}
        return Reason(Why.ESTIMATED, times, "us more than the direct form")

    @property
    def tiles(self) -> Mapping[str, int | None]:
        """Return the forms with the m of F(m x m, 3 x 3); the direct form, None, comes first."""
        found = (None, *sorted(self.transforms.allowed(self.op)))
        return {form_text(tile): tile for tile in found}


def decide_forms(found: Sequence[ConvolutionSite], choices: Choices) -> dict[Operation, int | None]:
    """Return the m of the form of each convolution, as demanded, recorded or usual; note it."""
    tiles: dict[Operation, int | None] = {}
    for each in found:
        site = choices.next_site(SiteKind.FORM, each.digest)
        nodes = node_name(each.op)
        # A mode of the target comes before records, and a demand before the mode.
        is_open = each.transforms.is_choice or choices.demanded(site) is not None
        words = each.tiles if is_open else (each.usual,)
        form = choices.decide(site, each.usual, words, nodes, each.reason)
        tiles[each.op] = each.tiles[form]
        if choices.wants_alternatives:
            _offer_smaller(site, each, form, choices)
    return tiles


def _offer_smaller(site: Site, each: ConvolutionSite, form: str, choices: Choices) -> None:
    """Offer the forms that keep fewer bytes between their kernels."""
    op, by, chosen = each.op, each.transforms, each.tiles[form]
    for other, tile in each.tiles.items():
        saved = by.bytes_between(op, chosen) - by.bytes_between(op, tile)
        longer = by.saved(op, chosen) - by.saved(op, tile)
        saving = Saving(saved, longer)
        choices.offer(site, StringAttr(other), saving, [op], node_name(op))


def form_text(tile: int | None) -> str:
    """Return the form in words: `direct`, or `winograd 2` for F(2x2, 3x3)."""
    return _DIRECT if tile is None else f"{_WINOGRAD} {tile}"


def convolutions(function: func.FuncOp, transforms: ConvByTransforms) -> list[ConvolutionSite]:
    """Return the convolutions of a function that may have several forms."""
    return [
        ConvolutionSite(op, transforms)
        for op in function.body.block.ops
        if isinstance(op, nn.ConvOp) and transforms.allowed(op)
    ]
