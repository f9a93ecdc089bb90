"""Choose who computes each value, our kernels or CLML, and the layout in which it lies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...context import explanations_of, thrift_of, weights_of
from ...dialects import cl, nn
from ...dialects.cl.target_ranges import CLML_CHOICES
from ...errors import CloptError
from ..remarks import add_remarks
from .clml.choose import Chooser
from .clml.copied import Copied
from .clml.matching import find_matches
from .clml.partition import Partition, partition, write_graphs
from .clml.regions import form_regions
from .clml.report import partition_table
from .forms import rewrite
from .fuse import form_groups
from .layout.carry_out import Kernels, carry_out, kernels_of_both, kernels_of_layouts
from .layout.explain import layouts_table, writers_table
from .layout.grouping import TEXELS
from .layout.offload import OffloadProblem
from .layout.problem import LayoutProblem
from .layout.savings import offer_savings
from .layout.solver import Solution
from .program.layouts import check_plain


@dataclass(frozen=True)
class NNChoosePass(ModulePass):
    """Chooses the writer and the layout of each value between kernels.

    `mode` says who computes: `prefer` moves every operation that CLML computes exactly as nn says
    into a CLML graph with one `clml.call`, `off` none; `auto` solves one problem over writers and
    layouts, in which the whole network costs least by the target's figures. A graph is as large as
    possible without a path that leaves it and enters it again; plain tensors enter and leave it.

    The other operations get the forms in which our kernels compute them (`nn-split-concats`,
    `nn-conv-transpose-to-conv`, `nn-winograd`). On targets that use textures, kernels are formed as
    `nn-fuse` does, for texels; those that read or write texels become regions, and `nn.relayout`
    stands where a layout must change, and for constants. Kernels that stay plain stay operations,
    for the passes of plain layouts; regions that are there already keep their layouts.
    """

    name: ClassVar[str] = "nn-choose"
    mode: str = ""
    """By default the target's `clml`."""
    version: int = 0
    """The version of CLML; by default the target's."""
    minimum: int = 1
    """The fewest operations of a graph, not counting copies and reshapes. The default suits both
    modes: `prefer` asks for all that is possible, `auto` weighs the copies of small graphs."""
    graphs_only: bool = False
    """Write the graphs alone: all other operations stay between plain values."""
    explain: bool = False
    """Explain the graph of each operation, or the reason why it is in none, the layouts, their
    costs and those of the next best."""

    def __post_init__(self) -> None:
        if self.mode not in ("", *CLML_CHOICES):
            raise ValueError(f"mode is one of {', '.join(CLML_CHOICES)}, not {self.mode}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        choose(op, ctx, self)

    def target_of(self, module: ModuleOp) -> cl.Target:
        """The module's target with this pass's mode; `off` if `auto` finds no CLML there."""
        target = cl.target_of(module)
        mode, version = self.mode or target.clml, self.version or target.clml_version
        if mode == "prefer" and not version:
            raise CloptError(
                f"clml=prefer needs a device with CLML, and {target.name} has none; name another "
                "target, for example adreno-740, say which version there is (clml_version=3), or "
                "let our reference library serve (clopt-run --clml-library reference)."
            )
        return replace(target, clml=mode if version else "off", clml_version=version)


def choose(module: ModuleOp, ctx: Context, options: NNChoosePass) -> list[Partition]:
    """Apply the pass; return what CLML computes of each network."""
    target = options.target_of(module)
    found: list[Partition] = []
    for function in nn.networks_of(module):
        choice = _Choice(module, function, target, ctx, options)
        kernels = choice.kernels()
        found.append(choice.partition)
        if target.lanes and not options.graphs_only:
            add_remarks(module, carry_out(function, kernels, target))
    return found


@dataclass
class _Choice:
    """The choice for one function."""

    module: ModuleOp
    function: func.FuncOp
    target: cl.Target
    ctx: Context
    options: NNChoosePass
    partition: Partition = field(default_factory=lambda: Partition((), ()))

    def kernels(self) -> list[Kernels]:
        """Write the graphs; the kernels that are left, none where they all stay plain."""
        if self.target.lanes and (end := self.function.body.block.last_op) is not None:
            check_plain(end, end.operands)
        match self.target.clml:
            case "auto":
                return self._both()
            case "prefer":
                weights, minimum = weights_of(self.ctx), self.options.minimum
                self._tell_graphs(
                    partition(self.module, self.function, self.target, weights, minimum)
                )
            case _:
                pass
        return [] if self.options.graphs_only else self._layouts()

    def _layouts(self) -> list[Kernels]:
        """The kernels of all operations, with the cheapest layouts."""
        rewrite(self.function, self.target, self.ctx)
        if not self.target.lanes:
            self._tell(self._without_textures())
            return []
        groups = form_groups(self.function.body.block.ops, TEXELS)
        thrift = thrift_of(self.ctx)
        problem = LayoutProblem(self.function, groups, self.target, thrift)
        solution = problem.solve()
        if self.options.explain:
            self._tell(layouts_table(problem, solution))
        kernels = kernels_of_layouts(problem, solution)
        if thrift is not None:
            offer_savings(problem, solution, kernels, thrift)
        return kernels

    def _both(self) -> list[Kernels]:
        """The kernels that the cheapest writers and layouts leave us; the others become graphs."""
        minimum, weights = self.options.minimum, weights_of(self.ctx)
        model = Copied(self.function)
        matches = find_matches(model.function, self.target, weights)
        forms = rewrite(self.function, self.target, self.ctx)
        legal = model.in_function(matches.legal, forms)
        chooser = Chooser(self.function, self.target, legal, minimum)
        reasons = dict(matches.reasons)
        if self.options.explain:
            reasons |= chooser.reasons()
            self._tell(chooser.costs_table())
        regions = form_regions(self.function, chooser.matches, minimum, reasons)
        problem, solution = chooser.problem, chooser.solution
        # Before the graphs are written, since that erases what CLML computes.
        layouts = self._writers_and_layouts(problem, solution) if self.options.explain else ""
        kernels = kernels_of_both(problem, solution)
        self._tell_graphs(
            write_graphs(self.module, self.function, regions, weights, model.function, reasons)
        )
        self._tell(layouts)
        return kernels

    def _writers_and_layouts(self, problem: OffloadProblem, solution: Solution) -> str:
        if self.options.graphs_only:
            return ""
        uses_textures = self.target.uses_textures
        return writers_table(problem, solution) if uses_textures else self._without_textures()

    def _without_textures(self) -> str:
        target = self.target
        return (
            f"{target.name} uses no textures: texture={target.texture}, "
            f"image_cost={target.image_cost:g}, images={str(target.images).lower()}"
        )

    def _tell_graphs(self, found: Partition) -> None:
        self.partition = found
        self._tell(partition_table(self.function.sym_name.data, found))

    def _tell(self, text: str) -> None:
        if self.options.explain and text:
            explanations_of(self.ctx).append(text)
