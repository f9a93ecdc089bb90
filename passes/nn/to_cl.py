"""Lowering of functions of regions to queue programs that launch the regions as kernels."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from ...context import weights_of
from ...decisions import deciding
from ...dialects import cl, nn
from ...dialects.cl.images import verify_image
from ...dialects.cl.target_attr import ATTRIBUTE_NAME
from ...dialects.nn.in_place import overwritten_input
from ...dialects.properties import text
from ...errors import CloptError
from ..free_names import free_name
from ..locations import node_name
from .embedding.callers import replace_calls, wrapper
from .embedding.contents import checked_contents
from .layout.candidates import is_texture
from .program.body import ModuleContext, ProgramBody, returned_values
from .program.kernels import KernelTable
from .program.layouts import check_plain, outline_relayouts


class NNToCLPass(ModulePass):
    """Turn each function into a `cl.program` and each `nn.fused` into a launch of an `nn.kernel`.

    Equal regions share a kernel. Reshapes and slices of whole rows become views. Results are
    written directly to the caller's buffers, and operands of concatenations to their results if
    they are contiguous there. Constants are packed here; other relayouts become kernels. Calls of
    accelerators' graphs become the graphs' commands. Each `func.call` of a network becomes a
    `cl.run` of its program. A network with the attribute `nn.wrapper` leaves a function with its
    name and signature that runs the program `@NAME_program`.
    """

    name = "nn-to-cl"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        contents = checked_contents(op)
        contents.refuse_mixed("run nn-outline-islands, which moves them to networks of their own")
        if ATTRIBUTE_NAME in op.attributes:
            _check_images(op)
        kernels, graphs = KernelTable(contents.names), cl.graphs_of(op)
        weights, target = weights_of(ctx, op), cl.target_of(op)
        block, programs = op.body.block, dict[str, cl.ProgramOp]()
        with deciding(op, ctx) as choices:
            inner = nn.loop_bodies(op)
            bodies = {name: each for name, each in contents.networks.items() if name in inner}
            module = ModuleContext(weights, target, kernels, graphs, bodies, choices)
            for each in bodies.values():
                outline_relayouts(each)
            for name, function in contents.networks.items():
                if name in bodies:
                    function.detach()
                    continue
                programs[name] = program = _program(function, module)
                block.insert_op_before(program, function)
                if nn.wants_wrapper(function):
                    program.sym_name = StringAttr(free_name(f"{name}_program", contents.names))
                    block.insert_op_before(wrapper(function, program), function)
                function.detach()
        replace_calls(contents.calls, programs)
        if block.first_op is not None:
            block.insert_ops_before(kernels.outline(), block.first_op)
        for function in contents.networks.values():
            function.erase()


def _program(function: func.FuncOp, module: ModuleContext) -> cl.ProgramOp:
    """Return the queue program of a function whose body is constants, views and fused regions."""
    block = function.body.block
    outline_relayouts(function)
    _check_parameters(function, block.args, function.arg_attrs)
    if (end := block.last_op) is not None:
        _check_parameters(end, end.operands, function.res_attrs)
    ports = [
        *_ports(block.args, function.arg_attrs, "input"),
        *_ports(returned_values(function), function.res_attrs, "output"),
    ]
    program = cl.ProgramOp(function.sym_name.data, ports, len(block.args))
    inner = program.body.block
    for value, param in zip(block.args, inner.args, strict=False):
        param.name_hint = value.name_hint
    count = program.input_count
    body = ProgramBody(module, function, inner, inner.args[:count], inner.args[count:])
    for op in block.ops:
        body.lower(op)
    inner.add_op(cl.ReturnOp())
    return program


def _check_parameters(
    op: Operation, values: Sequence[SSAValue], attrs: ArrayAttr[DictionaryAttr] | None
) -> None:
    """Raise CloptError for parameters with layouts, unless they are images, and vice versa."""
    images = nn.images_of(attrs)
    check_plain(op, [value for i, value in enumerate(values) if i not in images])
    for value in (values[i] for i in sorted(images)):
        if not is_texture(nn.layout_of(value)):
            raise CloptError(
                f"{node_name(op)}: {value.type} is marked as an image, but has no image layout; "
                "run nn-choose first"
            )


def _check_images(module: ModuleOp) -> None:
    """Raise CloptError for layouts in images that the target does not support."""
    target = cl.target_of(module)
    for op in (op for function in nn.networks_of(module) for op in function.body.block.ops):
        for value in op.results:
            if isinstance(value.type, TensorType) and nn.layout_of(value) is not None:
                try:
                    verify_image("its result", nn.buffer_type(nn.tensor_type(value)), target)
                except VerifyException as error:
                    raise CloptError(f"{node_name(op)}: {error}.") from error


def _ports(
    values: Sequence[SSAValue], attrs: ArrayAttr[DictionaryAttr] | None, kind: str
) -> list[cl.Port]:
    """Return the ports of a program for values and their attributes."""
    ports: list[cl.Port] = []
    for i, value in enumerate(values):
        entries = attrs.data[i] if attrs else DictionaryAttr({})
        name = text(entries.data.get("nn.name"))
        name, type_ = f"{kind}{i}" if name is None else name, nn.tensor_type(value)
        image = None if nn.layout_of(value) is None else nn.buffer_type(type_)
        shared = overwritten_input(entries)
        ports.append(cl.Port(name, type_.element_type, type_.get_shape(), image, shared))
    return ports
