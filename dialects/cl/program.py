"""`cl.program`: the commands of one inference, in the order of one in-order queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .. import tir
from ..narrow import bits_type, is_narrow
from ..properties import int_array, ints, text
from .images import image_of
from .labels import label
from .ops import ReturnOp, byte_count
from .verifier import verify_program

_IMAGE_RANK = 4


@dataclass(frozen=True)
class Port:
    """An input or output of a program as its user sees it."""

    name: str
    element_type: Attribute
    """The logical type, for example `ui8` if the buffer stores `i8`."""
    shape: tuple[int, ...]
    image: MemRefType | None = None
    """The type of the image that the user binds; None for a buffer."""
    in_place: str = ""
    """The input whose memory an output overwrites, if the user binds one buffer to both."""

    @property
    def storage_type(self) -> MemRefType:
        """Return the type of the buffer or image at this port."""
        if self.image is not None:
            return self.image
        element = self.element_type
        if is_narrow(element):
            element = bits_type(element)
        elif isinstance(element, IntegerType):
            element = IntegerType(cast("IntegerType", element).width.data)
        return MemRefType(element, self.shape)

    def attributes(self) -> DictionaryAttr:
        """Return the attributes of a program parameter, which complete its storage type."""
        entries: dict[str, Attribute] = {"cl.name": StringAttr(self.name)}
        if self.element_type != self.storage_type.element_type:
            entries["cl.element_type"] = self.element_type
        if self.image is not None:
            entries["cl.shape"] = int_array(self.shape)
        if self.in_place:
            entries["cl.in_place"] = StringAttr(self.in_place)
        return DictionaryAttr(entries)


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """The commands of one inference; the parameters are its inputs, then its outputs.

    Every command runs on the caller's in-order queue, in the order of the text, and no command
    waits for the host: the queue order is the only synchronisation. A buffer belongs to the program
    (`cl.alloc`, `cl.constant`) or to the caller (parameters). The verifier proves that every read
    follows a write, that no command writes inputs or constants, and that every output is written.
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
        """Return the number of parameters that are inputs."""
        return self.inputs.value.data

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return the inputs, then the outputs."""
        return tuple(
            _port(arg.type, attrs, i)
            for i, (arg, attrs) in enumerate(zip(self.body.block.args, self.arg_attrs, strict=True))
        )

    @property
    def input_ports(self) -> tuple[Port, ...]:
        """Return the inputs."""
        return self.ports[: self.input_count]

    @property
    def output_ports(self) -> tuple[Port, ...]:
        """Return the outputs."""
        return self.ports[self.input_count :]

    def overwritten(self) -> dict[SSAValue, SSAValue]:
        """Return the outputs that share the memory of an input, and that input."""
        args = self.body.block.args
        inputs = {port.name: arg for port, arg in zip(self.input_ports, args, strict=False)}
        outputs = zip(self.output_ports, args[self.input_count :], strict=True)
        return {arg: inputs[port.in_place] for port, arg in outputs if port.in_place}

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
        for arg, attrs in zip(args, self.arg_attrs, strict=True):
            _verify_image(arg, attrs)
        _verify_in_place(self.input_ports, self.output_ports)
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("a program must end with cl.return")
        verify_program(self)

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
    name, shape = text(attrs.data.get("cl.name")), attrs.data.get("cl.shape")
    return Port(
        f"arg{index}" if name is None else name,
        attrs.data.get("cl.element_type", buffer.element_type),
        buffer.get_shape() if shape is None else ints(shape),
        None if shape is None else buffer,
        text(attrs.data.get("cl.in_place")) or "",
    )


def _verify_in_place(inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
    """Raise VerifyException unless each output in place overwrites one input of its own type."""
    types = {port.name: port.storage_type for port in inputs}
    shared = [port for port in outputs if port.in_place]
    for port in shared:
        if types.get(port.in_place) != port.storage_type or port.image is not None:
            raise VerifyException(
                f'the output "{port.name}" overwrites "{port.in_place}", which is no input of its '
                "type in a buffer"
            )
    if len({port.in_place for port in shared}) < len(shared):
        raise VerifyException("two outputs overwrite the same input")


def _verify_image(arg: SSAValue, attrs: DictionaryAttr) -> None:
    """Raise VerifyException for an image parameter without the shape of the tensor it holds."""
    shape, image = attrs.data.get("cl.shape"), image_of(arg.type)
    if image is None and shape is None:
        return
    is_array = isinstance(shape, DenseArrayBase)
    held = ints(cast("Attribute", shape)) if is_array else ()
    is_held = len(held) == _IMAGE_RANK
    if image is None or not is_held or arg.type != image_type(image.element_type, held):
        raise VerifyException(
            f"the parameter {label(arg)} must be a 2-D image of the N x C x H x W elements of "
            "cl.shape, four channels in a texel"
        )


def image_type(element_type: Attribute, shape: Sequence[int]) -> MemRefType:
    """Return the image type that users bind for N x C x H x W.

    Its width is W; its height is N, blocks of four channels, and H.
    """
    n, channels, height, width = shape
    texels = (n, -(-channels // tir.TEXEL), height, width, tir.TEXEL)
    scope = tir.ScopeAttr(tir.Scope.Texture, [_IMAGE_RANK - 1])
    return MemRefType(element_type, texels, memory_space=scope)
