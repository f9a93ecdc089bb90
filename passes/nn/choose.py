"""Choice of the producer and the layout of each value.

The producer is an OpenCL kernel or an accelerator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...accelerators import accelerators
from ...context import weights_of
from ...decisions import Choices, SiteKind, deciding
from ...dialects import cl, nn
from ...dialects.remarks import add_remarks
from ...errors import CloptError
from ...targets import fact_of, with_facts
from .forms import rewrite
from .fuse import form_groups
from .group_choices import GroupChoices
from .layout.carry_out import GroupKernels, carry_out, kernels_of_both, kernels_of_layouts
from .layout.explain import explain_transforms
from .layout.grouping import TEXELS
from .layout.problem import LayoutProblem
from .layout.value_sites import LayoutChoice, ValueSites
from .offload.accelerator import Accelerator
from .offload.chooser import Chooser
from .offload.copied import Copied
from .offload.partition import Partition, partition, write_graphs
from .offload.regions import form_regions
from .offload.report import explain_graphs, explain_partition
from .program.layouts import check_plain


@dataclass(frozen=True)
class NNChoosePass(ModulePass):
    """Choose the producer and the layout of each value between kernels.

    A target fact sets the mode of each accelerator. With `prefer`, every operation that the
    accelerator computes exactly as nn defines it moves to graphs, each with one call; with `off`,
    none does. With `auto`, one problem over producers and layouts minimises the estimated cost of
    the whole network. A graph is as large as possible without a path that leaves it and enters it
    again; plain tensors enter and leave it. Accelerators with `prefer` take their parts first, one
    after the other.

    The other operations are rewritten to the forms that OpenCL kernels compute (`nn-split-concats`,
    `nn-conv-transpose-to-conv`, `nn-winograd`). On targets that use textures, kernels are formed
    for texels, as `nn-fuse` does for plain values. Kernels that read or write texels become
    regions, with `nn.relayout` where a layout changes and for constants. Plain kernels stay
    operations, for the passes of plain layouts, and existing regions keep their layouts.

    The forms of 3x3 convolutions and the layouts of values are choices: demanded ones, else
    recorded ones (`recall-choices`), else those of the cost models.
    """

    name: ClassVar[str] = "nn-choose"
    facts: str = ""
    """Facts that override the target's, as in `texture=off winograd=off`."""
    minimum: int = 1
    """Fewest operations of a graph, not counting copies and reshapes.

    The default suits both modes: `prefer` offloads all that is possible, `auto` weighs the copies
    of small graphs.
    """
    graphs_only: bool = False
    """Only write the graphs: all other operations stay between plain values."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        choose(op, ctx, self)

    def target_of(self, module: ModuleOp) -> cl.Target:
        """Return the module's target with this pass's facts."""
        pairs = (word.partition("=") for word in self.facts.split())
        facts = {name: fact_of(name, value) for name, _, value in pairs}
        try:
            return with_facts(cl.target_of(module), facts)
        except ValueError as error:
            raise CloptError(f"{error}.") from error


def choose(module: ModuleOp, ctx: Context, options: NNChoosePass) -> list[Partition]:
    """Apply the pass; return the partition of each network into graphs and other operations."""
    target = options.target_of(module)
    preferred, weighed = _accelerators(target)
    partitions: list[Partition] = []
    bodies = nn.loop_bodies(module)
    with deciding(module, ctx) as choices:
        for function in nn.networks_of(module):
            is_body = function.sym_name.data in bodies
            # A graph's tensors exist once, so the iterations of a loop cannot share it.
            offered, compared = ([] if is_body else each for each in (preferred, weighed))
            choice = _Choice(module, function, target, ctx, options, offered, compared, choices)
            kernels = choice.kernels()
            choice.note_groups(kernels)
            partitions.append(choice.partition)
            if target.lanes and not options.graphs_only:
                add_remarks(module, carry_out(function, kernels, target))
        if choices is not None and target.lanes and not options.graphs_only:
            explain_transforms(module, choices)
    return partitions


def _accelerators(target: cl.Target) -> tuple[list[Accelerator], list[Accelerator]]:
    """Return the target's accelerators with the modes `prefer` and `auto`.

    Raise CloptError if a preferred one is absent.
    """
    preferred: list[Accelerator] = []
    weighed: list[Accelerator] = []
    for row in accelerators().values():
        mode = row.load("facts").of(target).mode
        if mode == "off":
            continue
        accelerator: Accelerator = row.load("offers")()
        absence = accelerator.absence(target)
        if mode == "prefer":
            if absence:
                raise CloptError(absence)
            preferred.append(accelerator)
        elif not absence:
            weighed.append(accelerator)
    return preferred, weighed


@dataclass
class _Choice:
    """The choice for one function."""

    module: ModuleOp
    function: func.FuncOp
    target: cl.Target
    ctx: Context
    options: NNChoosePass
    preferred: list[Accelerator]
    weighed: list[Accelerator]
    choices: Choices | None
    partition: Partition = field(default_factory=lambda: Partition((), ()))

    def __post_init__(self) -> None:
        self.groups = None if self.choices is None else GroupChoices(self.choices, TEXELS.stored)

    def note_groups(self, kernels: Sequence[GroupKernels]) -> None:
        """Note the groups of kernels that become regions; `nn-fuse` forms those of all others."""
        if self.groups is not None:
            self.groups.note({op for each in kernels if each.is_packed for op in each.group.ops})

    def kernels(self) -> list[GroupKernels]:
        """Write the graphs; return the remaining kernels, or none if all of them stay plain."""
        if self.target.lanes and (end := self.function.body.block.last_op) is not None:
            check_plain(end, end.operands)
        weights, minimum = weights_of(self.ctx, self.module), self.options.minimum
        for preferred in self.preferred:
            graphs = partition(preferred, self.module, self.function, self.target, weights, minimum)
            self._add_graphs(preferred, graphs)
        if self.weighed:
            return self._both()
        return [] if self.options.graphs_only else self._layouts()

    def _layouts(self) -> list[GroupKernels]:
        """Return the kernels of all operations, with the cheapest forms and layouts."""
        rewrite(self.function, self.target, self.ctx, self.choices)
        if not self.target.lanes:
            self._explain_plain()
            return []
        groups = form_groups(self.function.body.block.ops, TEXELS, self.groups)
        problem = LayoutProblem(self.function, groups, self.target)
        usual = LayoutChoice(problem, problem.solve())
        if self.choices is None:
            return kernels_of_layouts(*usual)
        sites = ValueSites(problem, self.choices)
        choice = sites.preferred(usual)
        kernels = kernels_of_layouts(*choice)
        sites.note(choice, kernels)
        return kernels

    def _both(self) -> list[GroupKernels]:
        """Write the graphs of the cheapest producers and layouts; return the remaining kernels."""
        minimum, weights = self.options.minimum, weights_of(self.ctx, self.module)
        for accelerator in self.weighed:
            accelerator.prepare(self.function)
        model = Copied(self.function)
        found = {a: a.find_matches(model.function, self.target, weights) for a in self.weighed}
        forms = rewrite(self.function, self.target, self.ctx, self.choices)
        legal = {a: model.in_function(each.legal, forms) for a, each in found.items()}
        chooser = Chooser(
            *(self.function, self.target, legal, minimum),
            *(self.groups, self.options.graphs_only),
        )
        # Before the graphs are written, which erases the offloaded operations.
        chooser.note()
        reasons = {accelerator: dict(each.reasons) for accelerator, each in found.items()}
        if self._explains:
            for accelerator, each in reasons.items():
                each |= chooser.reasons(accelerator)
            explain_graphs(chooser, self._explains)
            if not self.target.lanes and not self.options.graphs_only:
                self._explain_plain()
        regions = form_regions(self.function, chooser.matches, minimum, reasons)
        kernels = kernels_of_both(chooser.problem, chooser.solution)
        written: dict[Accelerator, Partition] = {}
        for accelerator, each in reasons.items():
            theirs = [region for region in regions if region.accelerator is accelerator]
            args = (self.module, self.function, theirs, weights, model.function, each)
            written[accelerator] = write_graphs(accelerator, *args)
        for accelerator, graphs in written.items():
            others = [each for each in written.values() if each is not graphs]
            self._add_graphs(accelerator, graphs.outside(others))
        return kernels

    @property
    def _explains(self) -> Choices | None:
        """The choices, if explanations are wanted."""
        return None if self.choices is None or self.choices.explained is None else self.choices

    def _explain_plain(self) -> None:
        if self.choices is not None:
            facts = self.target
            self.choices.summarise(
                SiteKind.LAYOUT,
                f"{facts.name} uses no textures: texture={facts.policy.texture}, "
                f"image_cost={facts.machine.image_cost:g}, "
                f"images={str(facts.device.images).lower()}",
            )

    def _add_graphs(self, accelerator: Accelerator, graphs: Partition) -> None:
        self.partition = Partition(
            (*self.partition.nodes, *graphs.nodes), (*self.partition.graphs, *graphs.graphs)
        )
        if self.choices is not None:
            name = self.function.sym_name.data
            explain_partition(accelerator.title, name, graphs, self.choices)
