"""The kernels of a network for an Adreno, and the cost of the instructions of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod
from pathlib import Path
from typing import Any

from adreno_costs import LayoutWork, layout_work
from adreno_isa import Loop, count
from adreno_tool import Compiled, Tool
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from clopt.backends.opencl_c import emit
from clopt.backends.opencl_c.printer import KernelPrinter
from clopt.backends.opencl_c.values import Block, CountedLoop, If
from clopt.backends.programs import program_of
from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.frontends.onnx import import_onnx
from clopt.passes.locations import node_name
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import space_of
from clopt.passes.tir.rules.space import Params, Space
from clopt.passes.tir.rules.stages import is_naive
from clopt.passes.tir.rules.texels.dot_parts import BytePartsModel
from clopt.passes.tir.rules.texels.dot_texels import ByteTexelModel
from clopt.passes.tir.rules.texels.shared_sums import PARTS
from clopt.passes.tir.rules.texels.texel_parts import TexelPartsModel
from clopt.passes.tir.rules.texels.texel_reduction import cost_of
from clopt.passes.tir.rules.texels.texel_tile import TexelTileModel
from clopt.passes.tir.rules.texels.tiles import tile_of
from clopt.passes.tir.work import kernel_work
from clopt.reports.commands import title
from clopt.targets import load_target

_MODELS: Mapping[str, Callable[[Space[Any], Params], float]] = {
    "texel-tile": lambda space, params: cost_of(
        space.model(TexelTileModel).shape, tile_of(params), space.target
    ),
    "texel-parts": lambda space, params: space.model(TexelPartsModel).cost(
        tile_of(params), params.number(PARTS.name)
    ),
    "dot-texels": lambda space, params: space.model(ByteTexelModel).cost(tile_of(params)),
    "dot-parts": lambda space, params: space.model(BytePartsModel).cost(
        tile_of(params), params.number(PARTS.name)
    ),
}
"""The rules whose models count issue slots."""
_NEVER_IDLE = {"compute_units": 1, "one_wave_cost": 1.0}
_DIRECT = (nn.ConvolutionOp, nn.MatmulOp)
_PRODUCTS = (*_DIRECT, nn.WinogradConvOp, nn.WinogradProductOp, nn.AttentionOp)


@dataclass(frozen=True)
class Row:
    """A kernel of a network."""

    kernel: str
    nodes: tuple[str, ...]
    """The node whose result each of its launches computes."""
    multiply_adds: int
    """Multiply-adds of its convolution or product per launch, in the direct form; 0 without one."""
    items: int
    """Work-items of a launch."""
    slots: int
    """Issue slots of a work-item."""
    halves: int
    """Issue slots of arithmetic on halves only."""
    threads: int
    """Work-items in flight on a core."""
    registers: int
    spills: int
    is_matched: bool
    """Whether its loops were found in the instructions."""

    @property
    def cost(self) -> float:
        """Slots of all launches if arithmetic on halves takes half a slot."""
        return len(self.nodes) * self.launch_cost

    @property
    def launch_cost(self) -> float:
        """The same for one launch."""
        return self.items * (self.slots - self.halves / 2)

    @property
    def raw(self) -> int:
        """Slots of all launches if each instruction takes one."""
        return len(self.nodes) * self.items * self.slots

    @property
    def stem(self) -> str:
        """The kernel's name without its number."""
        return self.kernel.rstrip("0123456789").rstrip("_")


@dataclass(frozen=True)
class Cost:
    """The cost of a kernel's plan by the model from which its rule takes defaults."""

    rule: str
    cost: float
    slots: float
    """The cost on a device that never idles."""


@dataclass(frozen=True)
class Network:
    """A compiled network."""

    module: ModuleOp
    source: str
    multiply_adds: int
    """Multiply-adds of all convolutions and products, in the direct form."""
    of_kernel: Mapping[str, int]
    """The same per launch of each kernel."""
    costs: Mapping[str, Cost]
    """Costs of the kernels whose rules have a model."""
    work: Mapping[str, LayoutWork]
    """The work of each node's kernel, as the choice of layouts counts it."""

    @property
    def functions(self) -> dict[str, tir.FuncOp]:
        """The kernels by name."""
        ops = self.module.body.block.ops
        return {op.sym_name.data: op for op in ops if isinstance(op, tir.FuncOp)}


def compile_network(path: Path, gpu: str, precision: str) -> Network:
    """Return a network as `clopt.compile` makes it for an Adreno."""
    ctx = CloptContext()
    module = import_onnx(path, ctx.weights)
    target = load_target(f"adreno-{gpu}")
    cl.set_target(module, target)
    direct: defaultdict[str, int] = defaultdict(int)
    for op in module.walk():
        if isinstance(op, _DIRECT):
            direct[node_name(op)] += op.visits()
    outlined: dict[str, int] = {}
    costs: dict[str, Cost] = {}
    work: dict[str, LayoutWork] = {}

    def look(done: ModulePass | None, at: ModuleOp, _: ModulePass | None) -> None:
        if isinstance(done, NNFusePass):
            work.update(layout_work(at, target))
        if isinstance(done, NNToCLPass):
            kernels = (op for op in at.body.block.ops if isinstance(op, nn.KernelOp))
            outlined.update((op.sym_name.data, _multiply_adds(op, direct)) for op in kernels)
        if isinstance(done, TIRChoosePlanPass):
            functions = (op for op in at.body.block.ops if isinstance(op, tir.FuncOp))
            found = ((op.sym_name.data, _cost(op, target)) for op in functions)
            costs.update((name, cost) for name, cost in found if cost is not None)

    run_pipeline(ctx, module, "opencl", look, precision=precision)
    functions = [op for op in module.body.block.ops if isinstance(op, tir.FuncOp)]
    owners = _owners(functions)
    of_kernel = {f.sym_name.data: outlined.get(owners.get(f, ""), 0) for f in functions}
    return Network(module, emit(module, target), sum(direct.values()), of_kernel, costs, work)


def _cost(function: tir.FuncOp, target: cl.Target) -> Cost | None:
    if function.plan is None or not is_naive(function):
        return None
    plan = function.plan.data
    model = _MODELS.get(plan.rule)
    if model is None:
        return None
    costs = [
        model(space_of(NaiveKernel(function), plan, each)[1], Params(plan.parameters))
        for each in (target, target.with_facts(_NEVER_IDLE))
    ]
    return Cost(plan.rule, *costs)


def _multiply_adds(kernel: nn.KernelOp, direct: Mapping[str, int]) -> int:
    names = {node_name(op) for op in kernel.walk() if isinstance(op, _PRODUCTS)}
    return sum(direct.get(name, 0) for name in names)


def _owners(functions: Sequence[tir.FuncOp]) -> dict[Operation, str]:
    """Map functions to the kernel that they are a part of, if they have most of its work."""
    parts: defaultdict[str, list[tir.FuncOp]] = defaultdict(list)
    for op in functions:
        parts[(op.part_of or op.sym_name).data].append(op)
    return {
        max(same, key=lambda op: kernel_work(op).multiply_adds): name
        for name, same in parts.items()
    }


def rows_of(network: Network, gpu: str, tool: Tool) -> list[Row]:
    """Return the kernels that a network launches, in the order of its first launches."""
    program = program_of(network.module)
    compiled = tool.compile(network.source, gpu)
    nodes: defaultdict[str, list[str]] = defaultdict(list)
    for op in cl.enqueued(program):
        if isinstance(op, cl.EnqueueKernelOp):
            nodes[op.kernel_name].append(title(op, op.kernel_name))
    functions, target = network.functions, cl.target_of(network.module)
    return [
        row_of(functions[name], target, compiled[name], of_launch, network.of_kernel[name])
        for name, of_launch in nodes.items()
    ]


def row_of(
    function: tir.FuncOp,
    target: cl.Target,
    compiled: Compiled,
    nodes: Sequence[str],
    multiply_adds: int,
) -> Row:
    """Return a kernel and its counts."""
    items = work_items(function)
    work = kernel_work(function).multiply_adds
    counted = count(compiled.assembly, loops_of(function, target), work / items)
    return Row(
        function.sym_name.data,
        tuple(nodes),
        multiply_adds,
        items,
        counted.counts.slots,
        counted.counts.halves,
        compiled.threads,
        compiled.registers,
        compiled.spills,
        counted.is_matched,
    )


def work_items(function: tir.FuncOp) -> int:
    """Return the work-items of a launch, in whole work-groups."""
    assert function.global_size is not None, "a compiled kernel has an NDRange"
    sizes = tuple(function.global_size.iter_values())
    local = tuple(function.local_size.iter_values()) if function.local_size else (1,) * len(sizes)
    return prod(group * ceil(size / group) for size, group in zip(sizes, local, strict=True))


def loops_of(function: tir.FuncOp, target: cl.Target) -> list[Loop]:
    """Return the loops in the text of a kernel."""
    return list(_loops(KernelPrinter(function, target).builder.graph.root))


def _loops(block: Block) -> Iterator[Loop]:
    for item in block.items:
        match item:
            case CountedLoop():
                yield Loop(item.extent, tuple(_loops(item.body)), item.bound is not None)
            case If():
                for side in item.blocks():
                    yield from _loops(side)
            case _:
                pass
