"""The convolutions of a network in their possible forms: direct, or with Winograd transforms.

A convolution is timed without its bias and without operations that would be fused into it. Its time
includes the transforms of activations, but no copies into or out of the form's best layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from xdsl.dialects import func

from ..decisions.record import Kind
from ..dialects import cl, nn
from ..passes.locations import node_name
from ..passes.nn.fuse import form_groups
from ..passes.nn.layout.cost import bytes_of
from ..passes.nn.layout.form_alone import network_in_form
from ..passes.nn.layout.grouping import TEXELS
from ..passes.nn.layout.kernels import works_of_group
from ..passes.nn.tuned_forms import ConvolutionSite
from ..passes.nn.winograd_costs import ElementCounts
from ..weights import Weights
from .choices import as_cold, tasks_alone
from .layouts import traffic
from .trial import Task


@dataclass(frozen=True)
class InForm:
    """A convolution in one of its forms: a `TunedChoice`."""

    kind: ClassVar[Kind] = "form"
    network: TunedFormChoice
    convolution: ConvolutionSite
    form: str

    @property
    def key(self) -> tuple[str, str]:
        return self.convolution.digest, self.form

    @property
    def nodes(self) -> str:
        return node_name(self.convolution.op)

    @property
    def is_default(self) -> bool:
        return self.form == self.convolution.usual

    def tasks(self) -> list[Task]:
        weights = self.network.weights.subset(self.network.weights.keys())
        module = network_in_form(self.convolution, self.form, self.network.target, weights)
        op = self.convolution.op
        own = sum(bytes_of(nn.plain_type(value.type), None) for value in (op.x, op.w, op.result))
        return as_cold(tasks_alone(module, weights), self.network.traffic - own)


@dataclass(frozen=True)
class TunedFormChoice:
    """The convolutions of a model that have several forms, before one is chosen."""

    networks: Sequence[Sequence[ConvolutionSite]]
    functions: Sequence[func.FuncOp]
    """The networks with direct convolutions."""
    weights: Weights
    target: cl.Target

    def kernels(self) -> list[list[InForm]]:
        """Return each distinct convolution in all its forms; those with most products first."""
        found: dict[str, list[InForm]] = {}
        shares: dict[str, int] = {}
        for each in (each for network in self.networks for each in network):
            key = each.digest
            found.setdefault(key, [InForm(self, each, form) for form in each.tiles])
            shares[key] = shares.get(key, 0) + ElementCounts.direct(each.op).products
        return [found[key] for key in sorted(found, key=lambda key: (-shares[key], key))]

    @cached_property
    def traffic(self) -> int:
        """Bytes that one inference reads and writes."""
        groups = (
            group
            for function in self.functions
            for group in form_groups(function.body.block.ops, TEXELS)
        )
        return traffic(work for group in groups for work in works_of_group(group))
