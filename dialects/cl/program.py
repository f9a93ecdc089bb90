"""`cl.program`: the commands of one inference, in the order of one in-order queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .. import tir
from .images import verify_image, verify_image_arguments
from .memory import ArenaOp, BufferViewOp, ImageViewOp
from .ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    KernelOp,
    ReturnOp,
    ViewOp,
    byte_count,
    ints,
)
from .target import ATTRIBUTE_NAME, Target, target_of


@dataclass(frozen=True)
class Port:
    """An input or an output of a program as its user sees it."""

    name: str
    element_type: Attribute
    """The logical type: `ui8` where the buffer's storage type is `i8`."""
    shape: tuple[int, ...]

    @property
    def storage_type(self) -> MemRefType:
        """The type of the buffer behind this port."""
        element = self.element_type
        if isinstance(element, IntegerType):
            element = IntegerType(cast("IntegerType", element).width.data)
        return MemRefType(element, self.shape)

    def attributes(self) -> DictionaryAttr:
        """What a program's parameter records beside its storage type."""
        entries: dict[str, Attribute] = {"cl.name": StringAttr(self.name)}
        if self.element_type != self.storage_type.element_type:
            entries["cl.element_type"] = self.element_type
        return DictionaryAttr(entries)


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """What one inference enqueues; the parameters are its inputs, then its outputs.

    Every command runs on the one in-order queue the caller gives, in the order of the text, and no
    command waits for the host: that order is the only synchronisation there is. A buffer belongs to
    the program (`cl.alloc`, `cl.constant`) or to the caller (parameters). The verifier proves that
    nothing is read before it was written, that inputs and constants are never written, and that
    every output is.
    """

    name = "cl.program"
    sym_name = prop_def(SymbolNameConstraint())
    arg_attrs = prop_def(ArrayAttr[DictionaryAttr])
    inputs = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, ports: Sequence[Port], inputs: int, body: Region | None = None):
        types = [port.storage_type for port in ports]
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "arg_attrs": ArrayAttr([port.attributes() for port in ports]),
                "inputs": IntegerAttr(inputs, i64),
            },
            regions=[Region(Block(arg_types=types)) if body is None else body],
        )

    @property
    def input_count(self) -> int:
        """How many of the parameters are inputs."""
        return self.inputs.value.data

    @property
    def ports(self) -> tuple[Port, ...]:
        """The inputs, then the outputs."""
        return tuple(
            _port(arg.type, attrs, i)
            for i, (arg, attrs) in enumerate(zip(self.body.block.args, self.arg_attrs, strict=True))
        )

    @property
    def input_ports(self) -> tuple[Port, ...]:
        """The inputs."""
        return self.ports[: self.input_count]

    @property
    def output_ports(self) -> tuple[Port, ...]:
        """The outputs."""
        return self.ports[self.input_count :]

    def verify_(self) -> None:
        args = self.body.block.args
        if len(args) != len(self.arg_attrs):
            raise VerifyException(
                f"{len(args)} parameters have {len(self.arg_attrs)} attribute dictionaries"
            )
        if not 0 <= self.input_count <= len(args):
            raise VerifyException(f"{len(args)} parameters cannot have {self.input_count} inputs")
        for arg in args:
            byte_count(arg.type)
            if tir.is_texture(arg.type):
                raise VerifyException(
                    f"the parameter {_label(arg)} is an image, but users bind buffers; copy it "
                    "from or to a buffer inside of the program"
                )
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("a program ends with cl.return")
        _QueueOrder(self).verify()

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_symbol_name()
        args: list[Parser.Argument] = []
        arg_attrs: list[DictionaryAttr] = []

        def parse_parameter() -> None:
            args.append(parser.parse_argument())
            arg_attrs.append(DictionaryAttr(parser.parse_optional_attr_dict()))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_parameter)
        parser.parse_keyword("inputs")
        inputs = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            properties={
                "sym_name": name,
                "arg_attrs": ArrayAttr(arg_attrs),
                "inputs": IntegerAttr(inputs, i64),
            },
            attributes={} if attributes is None else attributes.data,
            regions=[parser.parse_region(args)],
        )

    def print(self, printer: Printer) -> None:
        def print_parameter(i: int) -> None:
            printer.print_block_argument(self.body.block.args[i])
            printer.print_op_attributes(self.arg_attrs.data[i].data)

        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(range(len(self.body.block.args)), print_parameter)
        printer.print_string(f" inputs {self.input_count}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _port(type_: Attribute, attrs: DictionaryAttr, index: int) -> Port:
    buffer = cast("MemRefType", type_)
    name = attrs.data.get("cl.name")
    return Port(
        name.data if isinstance(name, StringAttr) else f"arg{index}",
        attrs.data.get("cl.element_type", buffer.element_type),
        buffer.get_shape(),
    )


@dataclass(frozen=True)
class Kernel:
    """What a launch needs to know of a kernel, whether its body is here or elsewhere."""

    name: str
    arg_types: tuple[Attribute, ...]
    outputs: frozenset[int]
    global_size: tuple[int, ...] | None
    """None until the schedule has fixed the NDRange."""
    local_size: tuple[int, ...] | None
    packed: frozenset[int] = frozenset()
    """Constants that the kernel wants in another layout; `cl-pack-constants` provides it."""
    bounds: tuple[int, ...] = ()
    """How often its rolled loops run: 32-bit integers, arguments behind the buffers."""
    in_place: frozenset[tuple[int, int]] = frozenset()
    """Pairs (input, output) of arguments that may be the same bytes."""

    @classmethod
    def of(cls, op: tir.FuncOp | KernelOp) -> Kernel:
        """The facts of one kernel."""
        packed: frozenset[int] = frozenset()
        if isinstance(op, KernelOp):
            arg_types = tuple(op.arg_types)
            bounds = () if op.bounds is None else ints(op.bounds)
        else:
            bounds = tir.rolled_bounds(op)
            arg_types = tuple(param.type for param in op.params)
            packed = frozenset(map(int, op.layouts.data)) if op.layouts else packed
        return cls(
            op.sym_name.data,
            arg_types,
            frozenset(ints(op.outputs)),
            None if op.global_size is None else ints(op.global_size),
            None if op.local_size is None else ints(op.local_size),
            packed,
            bounds,
            frozenset(tir.in_place_pairs(op.in_place)),
        )

    def accepts(self, types: Sequence[Attribute]) -> bool:
        """Whether the kernel can be launched with arguments of `types`."""
        return len(types) == len(self.arg_types) and all(
            i in self.packed or given == wanted
            for i, (given, wanted) in enumerate(zip(types, self.arg_types, strict=True))
        )


def kernels_of(module: ModuleOp) -> dict[str, Kernel]:
    """Every kernel of `module` by name, in one pass over its operations."""
    return {
        op.sym_name.data: Kernel.of(op)
        for op in module.body.block.ops
        if isinstance(op, tir.FuncOp | KernelOp)
    }


class _QueueOrder:
    """Walks a program once in queue order and keeps what was written so far."""

    def __init__(self, program: ProgramOp):
        self.program = program
        args = program.body.block.args
        self.read_only: dict[SSAValue, str] = dict.fromkeys(args[: program.input_count], "an input")
        self.written: set[SSAValue] = set(self.read_only)
        self.roots: dict[SSAValue, SSAValue] = {}
        parent = program.parent_op()
        self.kernels: Mapping[str, Kernel] | None = None
        self.target: Target | None = None
        if isinstance(parent, ModuleOp):
            self.kernels = kernels_of(parent)
            if ATTRIBUTE_NAME in parent.attributes:
                self.target = target_of(parent)

    def verify(self) -> None:
        for op in self.program.body.block.ops:
            self._command(op)
        for port, arg in zip(self.program.ports, self.program.body.block.args, strict=True):
            if not self._is_written(arg):
                raise VerifyException(f'the output "{port.name}" is never written')

    def _command(self, op: Operation) -> None:
        if self.target is not None:
            for result in op.results:
                verify_image(_label(result), result.type, self.target)
        match op:
            case ConstantOp():
                self.read_only[op.result] = "a constant"
                self.written.add(op.result)
            case ViewOp():
                root = self.roots[op.result] = self._root(op.source)
                if tir.is_texture(op.result.type) and isinstance(root, BlockArgument):
                    raise VerifyException(
                        f"{_label(op.result)} is an image over the parameter {_label(root)}, whose "
                        "buffer the user may change with every inference; copy it"
                    )
            case BufferViewOp() | ImageViewOp():
                pass
            case EnqueueCopyOp():
                self._read(op, op.source)
                self._write(op, op.destination)
            case EnqueueKernelOp():
                self._launch(op)
            case AllocOp() | ArenaOp() | ReturnOp():
                pass
            case _:
                raise VerifyException(f"{op.name} is no command of a queue program")

    def _launch(self, op: EnqueueKernelOp) -> None:
        if self.kernels is None:  # a detached program: kernels cannot be looked up
            return
        kernel = self.kernels.get(op.kernel_name)
        if kernel is None:
            raise VerifyException(f"{_title(op)}: the module has no such kernel")
        if not kernel.accepts(op.args.types):
            raise VerifyException(
                f"{_title(op)}: the arguments ({_types(op.args.types)}) do not match the kernel's "
                f"parameters ({_types(kernel.arg_types)})"
            )
        for i, arg in enumerate(op.args):
            if i not in kernel.outputs:
                self._read(op, arg)
        for i in sorted(kernel.outputs):
            self._write(op, op.args[i])
        self._check_images(op, kernel)

    def _check_images(self, op: EnqueueKernelOp, kernel: Kernel) -> None:
        """No image is read and written by one launch, under whatever name."""
        for i in kernel.outputs:
            for j, other in enumerate(op.args):
                alias = j != i and self._root(op.args[i]) is self._root(other)
                if alias and (tir.is_texture(op.args[i].type) or tir.is_texture(other.type)):
                    raise VerifyException(
                        f"{_title(op)} is given the image {_label(other)} twice, and writes it; "
                        "write the result to another image"
                    )
        if self.target is not None:
            verify_image_arguments(_title(op), op.args.types, set(kernel.outputs), self.target)

    def _read(self, op: Operation, value: SSAValue) -> None:
        if not self._is_written(value):
            raise VerifyException(f"{_title(op)} reads {_label(value)} before it is written")

    def _write(self, op: Operation, value: SSAValue) -> None:
        root = self._root(value)
        if root in self.read_only:
            raise VerifyException(
                f"{_title(op)} writes {_label(value)}, which is {self.read_only[root]}"
            )
        self.written.add(root)

    def _is_written(self, value: SSAValue) -> bool:
        """Whether all elements of a buffer, if it has any, have been written."""
        root = self._root(value)
        return root in self.written or 0 in cast("MemRefType", root.type).get_shape()

    def _root(self, value: SSAValue) -> SSAValue:
        return self.roots.get(value, value)


def _title(op: Operation) -> str:
    return f"{op.name} @{op.kernel_name}" if isinstance(op, EnqueueKernelOp) else op.name


def _label(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else f"a {value.type}"


def _types(types: Sequence[Attribute]) -> str:
    return ", ".join(str(type_) for type_ in types)
