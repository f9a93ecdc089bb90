"""Choice of the forms of convolutions by measured times from tuning databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from xdsl.dialects import func
from xdsl.ir import Operation

from ...decisions import Choices, SiteKind
from ...decisions.database import DeviceDriver, TuningDatabase
from ...dialects import cl, nn
from ...messages.explanations import Reason, Why
from ..locations import node_name
from .network_records import NetworkRecords, digest
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
        return digest(
            map(
                str,
                (_VERSION, by.lanes, by.in_texels, *types, *(f"{n} {v}" for n, v in properties)),
            )
        )

    @cached_property
    def usual(self) -> str:
        """Return the form that the target's cost model chooses."""
        return form_text(self.transforms.usual(self.op))

    def reason(self, measured: Mapping[str, float | None] | None) -> Reason:
        """Return why the convolution has its form: measured times, or what the model saves."""
        if measured is not None:
            return Reason(Why.MEASURED, measured)
        saved = {form: self.transforms.saved(self.op, tile) for form, tile in self.tiles.items()}
        times = {form: 0.0 - us for form, us in saved.items()}
        return Reason(Why.ESTIMATED, times, "us more than the direct form")

    @property
    def tiles(self) -> Mapping[str, int | None]:
        """Return the forms with the m of F(m x m, 3 x 3); the direct form, None, comes first."""
        found = (None, *sorted(self.transforms.allowed(self.op)))
        return {form_text(tile): tile for tile in found}


@dataclass(frozen=True)
class FormChoice:
    """The forms of a network that differ from the model's."""

    forms: Mapping[ConvolutionSite, str] = field(default_factory=dict[ConvolutionSite, str])
    remarks: Sequence[str] = ()
    times: Mapping[ConvolutionSite, Mapping[str, float | None]] = field(
        default_factory=dict[ConvolutionSite, "Mapping[str, float | None]"]
    )
    """Microseconds of the forms of convolutions that were measured."""

    @property
    def tiles(self) -> dict[Operation, int | None]:
        """Return the m of each form."""
        return {each.op: each.tiles[form] for each, form in self.forms.items()}


@dataclass(frozen=True)
class TunedForms:
    """Tuning databases, and the device whose records take precedence."""

    database: TuningDatabase
    device: DeviceDriver
    target: cl.Target

    def choose(self, found: Sequence[ConvolutionSite]) -> FormChoice:
        """Return the fastest measured forms of a network's convolutions.

        Forms other than the model's must be faster by more than the noise of both. If the whole
        network was measured with both and was not faster, the model's forms are used.
        """
        if not self.database.has("form", self.target.name):
            return FormChoice()  # before computing the keys, which takes time
        network = network_key(found)
        keys = {network, *(each.digest for each in found)}
        known = NetworkRecords.nearest(self.database, "form", keys, self.target, self.device)
        if known is None:
            return FormChoice()
        forms = {each: form for each in found if (form := _fastest(each, known)) != each.usual}
        usual, other = choice_key(found, {}), choice_key(found, forms)
        if usual != other and known.is_refuted(network, usual, other):
            return FormChoice()
        times = {each: _times(each, known) for each in found}
        measured = {each: of_forms for each, of_forms in times.items() if each.usual in of_forms}
        remarks = known.remarks("forms of convolutions", self.device) if usual != other else ()
        return FormChoice(forms, remarks, measured)


def demanded_forms(
    found: Sequence[ConvolutionSite], usual: FormChoice, choices: Choices
) -> FormChoice:
    """Return the forms of a network as its module demands, otherwise as usual; note all of them."""
    forms: dict[ConvolutionSite, str] = {}
    for each in found:
        site = choices.next_site(SiteKind.FORM, each.digest)
        form, nodes = usual.forms.get(each, each.usual), node_name(each.op)
        reason = partial(each.reason, usual.times.get(each))
        forms[each] = choices.decide(site, form, each.tiles, nodes, reason)
    return FormChoice(forms, usual.remarks)


def form_text(tile: int | None) -> str:
    """Return the form in words: `direct`, or `winograd 2` for F(2x2, 3x3)."""
    return _DIRECT if tile is None else f"{_WINOGRAD} {tile}"


def convolutions(function: func.FuncOp, transforms: ConvByTransforms) -> list[ConvolutionSite]:
    """Return the convolutions of a function whose form is a choice."""
    return [
        ConvolutionSite(op, transforms)
        for op in function.body.block.ops
        if isinstance(op, nn.ConvOp) and transforms.is_choice and transforms.allowed(op)
    ]


def network_key(found: Sequence[ConvolutionSite]) -> str:
    """Return a digest of all these convolutions of a network."""
    return digest(("forms", *(each.digest for each in found)))


def choice_key(found: Sequence[ConvolutionSite], forms: Mapping[ConvolutionSite, str]) -> str:
    """Return a digest of the forms of a network: `forms`, and the model's for all other sites."""
    return digest(forms.get(each, each.usual) for each in found)


def _times(each: ConvolutionSite, known: NetworkRecords) -> dict[str, float | None]:
    """Return the measured times of a convolution's forms."""
    found = {form: known.newest.get((each.digest, form)) for form in each.tiles}
    return {form: record.microseconds for form, record in found.items() if record is not None}


def _fastest(each: ConvolutionSite, known: NetworkRecords) -> str:
    """Return the form with the shortest time, or the model's if that is within the noise."""
    usual = known.newest.get((each.digest, each.usual))
    if usual is None:
        return each.usual
    faster = [
        (record.microseconds, form)
        for form in each.tiles
        if (record := known.newest.get((each.digest, form))) is not None
        and record.microseconds is not None
        and record.most < usual.least
    ]
    return min(faster)[1] if faster else each.usual
