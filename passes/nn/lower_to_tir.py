"""Turn every `nn.fused` into a kernel, and the function around them into a queue program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from ...context import weights_of
from ...dialects import cl, clml, nn, tir
from ...dialects.cl.images import verify_image
from ...dialects.cl.ops import byte_count
from ...dialects.cl.target import ATTRIBUTE_NAME
from ...dialects.properties import text
from ...errors import CloptError
from ...weights import Weights
from ..locations import node_name
from .lowering import Kernel, buffer_type, lowering_of
from .lowering.calls import call_commands
from .lowering.homes import find_homes
from .lowering.layouts import (
    check_plain,
    copy_comment,
    is_packed_view,
    outline_relayouts,
    packed_array,
)
from .structure import structure

_STEMS = ("conv", "matmul", "conv_transpose", "softmax", "winograd_input", "winograd_output")
"""Operations that give a kernel its name, whatever else it computes."""

_MOST_NODES = 4
"""The most node names in a kernel's comment."""


def kernel_stem(fused: nn.FusedOp) -> str:
    """A short name for a kernel: that of the operation that dominates it."""
    stem = ""
    for op in fused.body.block.ops:
        if isinstance(op, nn.ConstantOp | nn.YieldOp):
            continue
        name = op.name.rpartition(".")[2]
        if isinstance(op, nn.UnaryOp | nn.BinaryOp | nn.CompareOp):
            stem = stem or op.kind.data.value
        elif isinstance(op, nn.ReduceOp | nn.PoolOp):
            return f"{name}_{op.kind.data.value}"
        elif name in _STEMS or name.endswith("_norm"):
            return name
        else:
            stem = name
    return stem or "relayout"


def _kernel_key(fused: nn.FusedOp) -> tuple[object, ...]:
    """A key that two regions share exactly when one kernel serves both."""
    rows, _ = structure(fused.body.block.args, fused.body.block.ops)
    inputs = tuple((value.type, nn.constant_of(value) is not None) for value in fused.inputs)
    return rows, inputs, tuple(value.type for value in fused.outputs)


def build_kernel(fused: nn.FusedOp, name: str) -> tir.FuncOp:
    """The naive kernel of a region; CloptError for an operation without a lowering."""
    block = fused.body.block
    layouts = [nn.layout_of(value) for value in (*fused.inputs, *fused.outputs)]
    kernel = Kernel(name, block.args, fused.yielded, layouts)
    for op in block.ops:
        if isinstance(op, nn.YieldOp):
            continue
        lower = lowering_of(op)
        if lower is None:
            raise CloptError(
                f"{node_name(op)}: {op.name} has no lowering to OpenCL, so it cannot be compiled"
            )
        lower(kernel, op)
    return kernel.finish()


@dataclass
class _Nodes:
    """The nodes that share a kernel, for its comment."""

    names: list[str]
    launches: int = 1

    def comment(self) -> str:
        shown = ", ".join(self.names[:_MOST_NODES])
        hidden = len(self.names) - _MOST_NODES
        more = f" and {hidden} more" if hidden > 0 else ""
        times = f", in {self.launches} launches" if self.launches > 1 else ""
        return f"{shown}{more}{times}"


@dataclass
class _Lowering:
    """The state while one function becomes a program."""

    weights: Weights
    target: cl.Target
    kernels: dict[tuple[object, ...], tir.FuncOp] = field(
        default_factory=dict[tuple[object, ...], tir.FuncOp]
    )
    nodes: dict[tir.FuncOp, _Nodes] = field(default_factory=dict[tir.FuncOp, _Nodes])
    graphs: dict[str, clml.GraphOp] = field(default_factory=dict[str, clml.GraphOp])
    """The CLML graphs that nothing calls yet."""

    def kernel(self, fused: nn.FusedOp) -> tir.FuncOp:
        """The kernel of a region, shared with equal regions."""
        names = _node_names(fused)
        key = _kernel_key(fused)
        if key in self.kernels:
            kernel = self.kernels[key]
            self.nodes[kernel].launches += 1
            self.nodes[kernel].names += names
            return kernel
        kernel = build_kernel(fused, f"{kernel_stem(fused)}_{len(self.kernels)}")
        constants = [i for i, value in enumerate(fused.inputs) if nn.constant_of(value) is not None]
        if constants:
            kernel.properties["constants"] = DenseArrayBase.from_list(i64, constants)
        self.kernels[key] = kernel
        self.nodes[kernel] = _Nodes(names)
        return kernel

    def graph(self, call: clml.CallOp) -> clml.GraphOp:
        """The graph of a call; a graph has its tensors once, so it serves only one call."""
        graph = self.graphs.pop(call.graph_name, None)
        if graph is None:
            raise CloptError(
                f"{node_name(call)}: the graph @{call.graph_name} is called twice, but its tensors "
                "exist once; give each call a graph of its own"
            )
        return graph

    def program(self, function: func.FuncOp) -> cl.ProgramOp:
        """The queue program of a function whose body is constants, views and fused regions."""
        block = function.body.block
        _check_tensors(function)
        outline_relayouts(function)
        check_plain(function, block.args)
        returned = list(block.last_op.operands) if block.last_op is not None else []
        ports = [
            *_ports(block.args, function.arg_attrs, "input"),
            *_ports(returned, function.res_attrs, "output"),
        ]
        program = cl.ProgramOp(function.sym_name.data, ports, len(block.args))
        lowering = _ProgramBody(self, function, program)
        for value, arg in zip(block.args, program.body.block.args, strict=False):
            arg.name_hint = value.name_hint
            lowering.buffers[value] = arg
        for op in block.ops:
            lowering.lower(op)
        return program


def _node_names(fused: nn.FusedOp) -> list[str]:
    """The names of a region's nodes for the kernel's comment."""
    names = dict.fromkeys(node_name(op) for op in fused.body.block.ops if _computes(op))
    return list(names) or [copy_comment(fused)]


def _check_tensors(function: func.FuncOp) -> None:
    """Refuse a function of nn that takes or returns anything else than tensors."""
    signature = function.function_type
    for type_ in (*signature.inputs, *signature.outputs):
        if not isinstance(type_, TensorType):
            raise CloptError(
                f"@{function.sym_name.data} has operations of nn, so it takes and returns "
                f"tensors, not {type_}; move these operations to a function of their own."
            )


def _check_images(module: ModuleOp) -> None:
    """Refuse layouts in images that the target does not have."""
    target = cl.target_of(module)
    for op in (op for function in nn.networks_of(module) for op in function.body.block.ops):
        for value in op.results:
            if isinstance(value.type, TensorType) and nn.layout_of(value) is not None:
                try:
                    verify_image("its result", _buffer_type(value), target)
                except VerifyException as error:
                    raise CloptError(f"{node_name(op)}: {error}.") from error


def _computes(op: Operation) -> bool:
    return not isinstance(op, nn.ConstantOp | nn.YieldOp)


def _buffer_type(value: SSAValue) -> MemRefType:
    return buffer_type(nn.tensor_type(value))


def _ports(
    values: Sequence[SSAValue], attrs: ArrayAttr[DictionaryAttr] | None, kind: str
) -> list[cl.Port]:
    ports: list[cl.Port] = []
    for i, value in enumerate(values):
        name = text(attrs.data[i].data.get("nn.name")) if attrs else None
        name, type_ = f"{kind}{i}" if name is None else name, nn.tensor_type(value)
        ports.append(cl.Port(name, type_.element_type, type_.get_shape()))
    return ports


class _ProgramBody:
    """Fills the body of a program, one nn operation after the other."""

    def __init__(self, lowering: _Lowering, function: func.FuncOp, program: cl.ProgramOp):
        self.lowering = lowering
        self.block = program.body.block
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.packed: dict[tuple[nn.ConstantOp, Attribute], SSAValue] = {}
        end = function.body.block.last_op
        returned = list(end.operands) if end is not None else []
        params = self.block.args[program.input_count :]
        self.returned = list(zip(returned, params, strict=True))
        self.homes = find_homes(function, self.returned, lowering.target)

    def lower(self, op: Operation) -> None:
        """Append the commands of one operation."""
        if not isinstance(op, nn.FusedOp | nn.RelayoutOp):
            check_plain(op, op.operands)
        match op:
            case nn.ConstantOp():
                self._constant(op)
            case nn.ReshapeOp():
                self.buffers[op.result] = self._view(self.buffers[op.x], op.result)
            case nn.FusedOp():
                self._launch(op)
            case nn.RelayoutOp():
                self._packed_constant(op)
            case clml.CallOp():
                self._call(op)
            case func.ReturnOp():
                self._return()
            case _:
                raise CloptError(
                    f"{node_name(op)}: {op.name} is not in an nn.fused; run nn-fuse first"
                )

    def _constant(self, op: nn.ConstantOp) -> None:
        if op.result.uses and all(
            isinstance(use.operation, nn.RelayoutOp) for use in op.result.uses
        ):
            return
        if isinstance(op.value, nn.WeightAttr):
            key = op.value.key.data
        elif not op.result.uses:
            return
        else:
            array = nn.constant_value(op.result)
            assert array is not None, "an inline constant has its value"
            key = self.lowering.weights.add(array)
        self.buffers[op.result] = self._add(cl.ConstantOp(key, _buffer_type(op.result)), op.result)

    def _packed_constant(self, op: nn.RelayoutOp) -> None:
        if not op.result.uses:
            return
        constant = nn.constant_of(op.result)
        assert constant is not None, "a relayout of anything else has become a region"
        type_ = _buffer_type(op.result)
        if (constant, type_) not in self.packed:
            array = nn.attr_array(
                constant.value, nn.tensor_type(constant.result), self.lowering.weights
            )
            if array is None:
                raise CloptError(
                    f"{node_name(op)}: the weights of {op.x.type} are not in the store, and their "
                    "layout is made of them; pass the store that belongs to this module"
                )
            packed = packed_array(array, nn.layout_of(op.result))
            key = self.lowering.weights.add(packed, nn.hint_of(constant.result))
            self.packed[constant, type_] = self._add(cl.ConstantOp(key, type_), op.result)
        self.buffers[op.result] = self.packed[constant, type_]

    def _view(self, buffer: SSAValue, value: SSAValue) -> SSAValue:
        type_ = _buffer_type(value)
        return buffer if buffer.type == type_ else self._add(cl.ViewOp(buffer, type_), value)

    def _launch(self, fused: nn.FusedOp) -> None:
        if is_packed_view(fused):
            (value,) = fused.outputs
            self.buffers[value] = self._view(self.buffers[fused.inputs[0]], value)
            return
        for value in fused.outputs:
            self._memory(value)
        if fused in self.homes.slices:
            return
        if fused in self.homes.joins:
            self._copy_parts(fused)
            return
        if all(0 in nn.shape_of(value) for value in fused.outputs):
            return
        kernel = self.lowering.kernel(fused)
        args = [self.buffers[value] for value in (*fused.inputs, *fused.outputs)]
        launch = cl.EnqueueKernelOp(kernel.sym_name.data, args)
        launch.location = fused.location
        self.block.add_op(launch)

    def _call(self, call: clml.CallOp) -> None:
        check_plain(call, call.results)
        for op in call_commands(call, self.lowering.graph(call), self._memory):
            self.block.add_op(op)

    def _memory(self, value: SSAValue) -> SSAValue:
        """The buffer of a value; that of a result is made at the first need of any part of it."""
        if value not in self.buffers:
            self.buffers[value] = self._home(value)
        return self.buffers[value]

    def _home(self, value: SSAValue) -> SSAValue:
        if (param := self.homes.outputs.get(value)) is not None:
            return self._view(param, value)
        if (part := self.homes.parts.get(value)) is not None:
            return self._part(self._memory(part.whole), value, part.offset)
        return self._add(cl.AllocOp(_buffer_type(value)), value)

    def _part(self, buffer: SSAValue, value: SSAValue, offset: int) -> SSAValue:
        """A view of the bytes of `buffer` from `offset` on as the buffer of a value."""
        type_ = _buffer_type(value)
        if byte_count(type_) == byte_count(buffer.type):
            return self._view(buffer, value)
        return self._add(cl.ViewOp(buffer, type_, offset), value)

    def _copy_parts(self, fused: nn.FusedOp) -> None:
        """The rest of a concatenation: copies of the operands that lie elsewhere."""
        (result,) = fused.outputs
        for value, offset in self.homes.copied(fused):
            place = self._part(self.buffers[result], value, offset)
            copy = cl.EnqueueCopyOp(self.buffers[value], place)
            copy.location = fused.location
            self.block.add_op(copy)

    def _return(self) -> None:
        written = set(self.homes.outputs.values())
        for value, param in self.returned:
            if param not in written:
                source = self._view(self.buffers[value], value)
                self.block.add_op(cl.EnqueueCopyOp(source, param))
        self.block.add_op(cl.ReturnOp())

    def _add(self, op: Operation, value: SSAValue) -> SSAValue:
        self.block.add_op(op)
        result = op.results[0]
        result.name_hint = value.name_hint
        return result


def _check_accumulators(module: ModuleOp) -> None:
    """Refuse sums of halves where the target cannot add halves."""
    target = cl.target_of(module)
    if target.fp16:
        return
    for op in module.walk():
        if isinstance(op, nn.NNOp) and "accumulate" in op.properties:
            raise CloptError(
                f"{node_name(op)}: accumulate = f16 needs half arithmetic, which the target "
                f"{target.name} has not: leave it out, halves are then added up in float"
            )


class LowerNNToTIRPass(ModulePass):
    """Each `nn.fused` becomes a `tir.func` of naive loop nests (equal regions share one), each
    function a `cl.program` that launches them in order, and enqueues the commands of the CLML
    graphs that it calls. Reshapes become views, and so do slices of
    whole rows; results are written where the caller wants them, and operands of concatenations into
    their results, where they lie one behind the other there. Constants are packed here, other
    relayouts become kernels.
    """

    name = "lower-nn-to-tir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _check_accumulators(op)
        if ATTRIBUTE_NAME in op.attributes:
            _check_images(op)
        lowering = _Lowering(weights_of(ctx), cl.target_of(op), graphs=cl.graphs_of(op))
        block = op.body.block
        for function in nn.networks_of(op):
            program = lowering.program(function)
            block.insert_op_before(program, function)
            function.detach()
            function.erase()
        for kernel in lowering.kernels.values():
            kernel.properties["comment"] = StringAttr(lowering.nodes[kernel].comment())
        first = block.first_op
        if first is None:
            return
        for kernel in lowering.kernels.values():
            block.insert_op_before(kernel, first)
