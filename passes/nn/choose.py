"""Choose who computes each value, our kernels or an accelerator, and the layout it lies in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...accelerators import accelerators
from ...context import explanations_of, memory_budget_of, weights_of
from ...dialects import cl, nn
from ...dialects.remarks import add_remarks
from ...errors import CloptError
from ...messages.explanations import Explanation
from ...targets import fact_of, with_facts
from ..tir.tuning_database import DeviceDriver, TuningDatabase
from .forms import rewrite
from .fuse import form_groups
from .layout.carry_out import GroupKernels, carry_out, kernels_of_both, kernels_of_layouts
from .layout.explain import layouts_table, writers_table
from .layout.grouping import TEXELS
from .layout.offload import OffloadProblem
from .layout.problem import LayoutProblem
from .layout.savings import offer_savings
from .layout.solver import Solution
from .layout.tuned_layouts import TunedLayouts
from .offload.accelerator import Accelerator
from .offload.chooser import Chooser
from .offload.copied import Copied
from .offload.partition import Partition, partition, write_graphs
from .offload.regions import form_regions
from .offload.report import partition_table
from .program.layouts import check_plain
from .tuned_forms import TunedForms


@dataclass(frozen=True)
class NNChoosePass(ModulePass):
    """Chooses the writer and the layout of each value between kernels.

    The target says who computes, by a fact for each accelerator: `prefer` moves
    every operation that the accelerator computes exactly as nn says into a graph of its own with
    one call, `off` none; `auto` solves one problem over writers and layouts, in which the whole
    network costs least by the target's figures. A graph is as large as possible without a path that
    leaves it and enters it again; plain tensors enter and leave it. Accelerators with `prefer` take
    their parts first, one after the other; one of them all may have `auto`.

    The other operations get the forms in which our kernels compute them (`nn-split-concats`,
    `nn-conv-transpose-to-conv`, `nn-winograd`). On targets that use textures, kernels are formed as
    `nn-fuse` does, for texels; those that read or write texels become regions, and `nn.relayout`
    stands where a layout must change, and for constants. Kernels that stay plain stay operations,
    for the passes of plain layouts; regions that are there already keep their layouts.

    With `tuning`, tuning databases, 3x3 convolutions have the forms (`tuned_forms.py`) and values
    the layouts (`layout/tuned_layouts.py`) that cost least by the times of kernels on a device,
    where accelerators are no part of the choice. A remark tells whether that is another one than
    `device` and `driver`. `places` are databases that nobody named: one that cannot be read is a
    remark.
    """

    name: ClassVar[str] = "nn-choose"
    facts: str = ""
    """Facts that differ from the target's, as in `texture=off winograd=off`."""
    minimum: int = 1
    """The fewest operations of a graph, not counting copies and reshapes. The default suits both
    modes: `prefer` asks for all that is possible, `auto` weighs the copies of small graphs."""
    graphs_only: bool = False
    """Write the graphs alone: all other operations stay between plain values."""
    explain: bool = False
    """Explain the graph of each operation, or the reason why it is in none, the layouts, their
    costs and those of the next best."""
    tuning: tuple[str, ...] = ()
    """Paths of tuning databases."""
    places: tuple[str, ...] = ()
    """Paths of further ones, or `shipped`: the one that clopt brings for the target."""
    device: str = ""
    """The name and platform of the device that runs the kernels, as records have them."""
    driver: str = ""
    """The version of its driver."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        choose(op, ctx, self)

    def target_of(self, module: ModuleOp) -> cl.Target:
        """The module's target with this pass's facts."""
        pairs = (word.partition("=") for word in self.facts.split())
        facts = {name: fact_of(name, value) for name, _, value in pairs}
        try:
            return with_facts(cl.target_of(module), facts)
        except ValueError as error:
            raise CloptError(f"{error}.") from error


def choose(module: ModuleOp, ctx: Context, options: NNChoosePass) -> list[Partition]:
    """Apply the pass; return what accelerators compute of each network."""
    target = options.target_of(module)
    preferred, weighed = _accelerators(target)
    device = DeviceDriver(options.device, options.driver)
    database = TuningDatabase.found(options.tuning, options.places, target)
    add_remarks(module, database.remarks)
    tuned = _Tuned(TunedForms(database, device, target), TunedLayouts(database, device, target))
    found: list[Partition] = []
    for function in nn.networks_of(module):
        choice = _Choice(module, function, target, ctx, options, preferred, weighed, tuned)
        kernels = choice.kernels()
        found.append(choice.partition)
        if target.lanes and not options.graphs_only:
            add_remarks(module, carry_out(function, kernels, target))
    return found


def layout_problem(function: func.FuncOp, target: cl.Target, ctx: Context) -> LayoutProblem:
    """The choice of layouts for a function, whose operations have the forms of our kernels."""
    groups = form_groups(function.body.block.ops, TEXELS)
    return LayoutProblem(function, groups, target, memory_budget_of(ctx))


def has_accelerators(target: cl.Target) -> bool:
    """Whether accelerators take part in the choice on a target."""
    preferred, weighed = _accelerators(target)
    return bool(preferred) or weighed is not None


def _accelerators(target: cl.Target) -> tuple[list[Accelerator], Accelerator | None]:
    """Those with the mode `prefer`, and the one with `auto`, on a target that has them.

    CloptError for one that is preferred and absent, and for two with `auto`.
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
    if len(weighed) > 1:
        raise CloptError(
            f"{weighed[0].name}=auto and {weighed[1].name}=auto are two choices, and one problem "
            "weighs one accelerator against our kernels; say prefer or off for the others."
        )
    return preferred, weighed[0] if weighed else None


@dataclass(frozen=True)
class _Tuned:
    """What tuning databases say."""

    forms: TunedForms
    layouts: TunedLayouts


@dataclass
class _Choice:
    """The choice for one function."""

    module: ModuleOp
    function: func.FuncOp
    target: cl.Target
    ctx: Context
    options: NNChoosePass
    preferred: list[Accelerator]
    weighed: Accelerator | None
    tuned: _Tuned
    partition: Partition = field(default_factory=lambda: Partition((), ()))

    def kernels(self) -> list[GroupKernels]:
        """Write the graphs; the kernels that are left, none where they all stay plain."""
        if self.target.lanes and (end := self.function.body.block.last_op) is not None:
            check_plain(end, end.operands)
        weights, minimum = weights_of(self.ctx, self.module), self.options.minimum
        for each in self.preferred:
            found = partition(each, self.module, self.function, self.target, weights, minimum)
            self._tell_graphs(each, found)
        if self.weighed is not None:
            return self._both(self.weighed)
        return [] if self.options.graphs_only else self._layouts()

    def _layouts(self) -> list[GroupKernels]:
        """The kernels of all operations, with the cheapest forms and layouts."""
        forms = rewrite(self.function, self.target, self.ctx, self.tuned.forms)
        add_remarks(self.module, forms.remarks)
        if not self.target.lanes:
            self._tell(self._without_textures())
            return []
        budget = memory_budget_of(self.ctx)
        choice = self.tuned.layouts.choose(layout_problem(self.function, self.target, self.ctx))
        problem, solution = choice.problem, choice.solution
        add_remarks(self.module, choice.remarks)
        if self.options.explain:
            self._tell(layouts_table(problem, solution))
        kernels = kernels_of_layouts(problem, solution)
        if budget is not None:
            offer_savings(problem, solution, kernels, budget)
        return kernels

    def _both(self, accelerator: Accelerator) -> list[GroupKernels]:
        """The kernels that the cheapest writers and layouts leave us; the others become graphs."""
        minimum, weights = self.options.minimum, weights_of(self.ctx, self.module)
        accelerator.prepare(self.function)
        model = Copied(self.function)
        matches = accelerator.find_matches(model.function, self.target, weights)
        forms = rewrite(self.function, self.target, self.ctx)
        legal = model.in_function(matches.legal, forms)
        chooser = Chooser(accelerator, self.function, self.target, legal, minimum)
        reasons = dict(matches.reasons)
        if self.options.explain:
            reasons |= chooser.reasons()
            self._tell(chooser.costs_table())
        regions = form_regions(
            self.function,
            chooser.matches,
            minimum,
            reasons,
            accelerator.producer_reason,
            accelerator.most_tensors,
        )
        problem, solution = chooser.problem, chooser.solution
        # Before the graphs are written, since that erases what the accelerator computes.
        layouts = self._writers_and_layouts(problem, solution) if self.options.explain else ""
        kernels = kernels_of_both(problem, solution)
        found = write_graphs(
            accelerator, self.module, self.function, regions, weights, model.function, reasons
        )
        self._tell_graphs(accelerator, found)
        self._tell(layouts)
        return kernels

    def _writers_and_layouts(self, problem: OffloadProblem, solution: Solution) -> Explanation:
        if self.options.graphs_only:
            return ""
        uses_textures = self.target.uses_textures
        return writers_table(problem, solution) if uses_textures else self._without_textures()

    def _without_textures(self) -> str:
        target = self.target
        return (
            f"{target.name} uses no textures: texture={target.policy.texture}, "
            f"image_cost={target.machine.image_cost:g}, images={str(target.device.images).lower()}"
        )

    def _tell_graphs(self, accelerator: Accelerator, found: Partition) -> None:
        self.partition = Partition(
            (*self.partition.nodes, *found.nodes), (*self.partition.graphs, *found.graphs)
        )
        self._tell(partition_table(accelerator.title, self.function.sym_name.data, found))

    def _tell(self, told: Explanation) -> None:
        if self.options.explain and told:
            explanations_of(self.ctx).append(told)
