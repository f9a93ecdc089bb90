"""`clml.graph`, its constants and terminator, and `clml.call`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr, i8, i64
from xdsl.ir import BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ..graph_signature import GraphSignature, print_signature, verify_results
from ..offload import CommandWork, OffloadCallOp, OffloadGraphOp, Tensors
from ..properties import I64
from .attributes import ELEMENT_TYPES, Arithmetic, ArithmeticAttr, Layout, Usage
from .base import ArithmeticOp, MLOp
from .shape import CopyOp
from .types import MLTensorType, ml_tensor

VERSIONS = range(1, 6)
"""The major versions of the interface."""


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A tensor with the array `key` of the weights store, uploaded once.

    `clml.constant "w_0123456789abcdef" : !clml.tensor<32x3x3x3xf32, optimal, parameter>`

    The array has the same number and type of elements, in the order n, c, h, w.
    """

    name = "clml.constant"
    key = prop_def(StringAttr)
    result = result_def(MLTensorType)
    traits = traits_def(Pure())
    assembly_format = "$key attr-dict `:` type($result)"

    def __init__(self, key: str, result_type: MLTensorType):
        super().__init__(properties={"key": StringAttr(key)}, result_types=[result_type])

    def verify_(self) -> None:
        usage = ml_tensor(self.result).usage
        if usage is not Usage.PARAMETER:
            raise VerifyException(f"the usage of a constant must be parameter, not {usage}")


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The terminator of a graph, with the tensors that it returns."""

    name = "clml.return"
    values = var_operand_def(MLTensorType)
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


@irdl_op_definition
class GraphOp(OffloadGraphOp):
    """The commands of a part of a model that CLML computes, in queue order.

    `clml.graph @g(%x : T) -> T version 3 arithmetic fp32 { … }`

    `version` is the oldest major version of the interface that can run it, `arithmetic` the default
    for its commands. All tensors have the same element type. The inputs and outputs are tensors in
    NCHW, which are plain buffers of the caller. Each output is the result of a command and returned
    once.
    """

    name = "clml.graph"
    ACCELERATOR: ClassVar[str] = "CLML"

    version_attr = prop_def(I64, prop_name="version")
    arithmetic = prop_def(ArithmeticAttr)
    body = region_def("single_block")

    def __init__(self, name: str, version: int, arithmetic: Arithmetic | str, body: Region):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "version": IntegerAttr(version, i64),
                "arithmetic": ArithmeticAttr(Arithmetic(arithmetic)),
            },
            regions=[body],
        )

    @property
    def version(self) -> int:
        """Return the oldest major version of the interface that can run the graph."""
        return self.version_attr.value.data

    @property
    def arithmetic_mode(self) -> Arithmetic:
        """Return the default arithmetic of the commands."""
        return self.arithmetic.data

    def arithmetic_of(self, command: Operation) -> Arithmetic:
        """Return the arithmetic of a command."""
        override = command.arithmetic if isinstance(command, ArithmeticOp) else None
        return self.arithmetic_mode if override is None else override.data

    @property
    def commands(self) -> list[Operation]:
        """Return the commands in order; the index in this list is a command's number."""
        return [op for op in self.body.block.ops if isinstance(op, MLOp)]

    @property
    def inputs(self) -> tuple[BlockArgument, ...]:
        """Return the input tensors of the graph."""
        return tuple(self.body.block.args)

    @property
    def outputs(self) -> tuple[SSAValue, ...]:
        """Return the output tensors of the graph."""
        last = self.body.block.last_op
        return tuple(last.values) if isinstance(last, ReturnOp) else ()

    @property
    def copies(self) -> int:
        return sum(isinstance(command, CopyOp) for command in self.commands)

    def tensors(self, command: Operation) -> Tensors:
        reads = (v for v in command.operands if not isinstance(v.owner, ConstantOp))
        return Tensors(tuple(reads), tuple(command.results))

    def memory_type(self, tensor: SSAValue) -> MemRefType:
        """Return a row of bytes for an optimal tensor, else a dense buffer of its shape."""
        type_ = ml_tensor(tensor)
        if type_.layout is Layout.OPTIMAL:
            return MemRefType(i8, [type_.planned_bytes])
        n, c, h, w = type_.get_shape()
        shape = [n, h, w, c] if type_.layout is Layout.NHWC else [n, c, h, w]
        return MemRefType(type_.element_type, shape)

    def is_opaque(self, tensor: SSAValue) -> bool:
        return ml_tensor(tensor).layout is Layout.OPTIMAL

    @property
    def constants(self) -> list[ConstantOp]:
        """Return the constants of the graph."""
        return [op for op in self.body.block.ops if isinstance(op, ConstantOp)]

    @property
    def weight_keys(self) -> list[str]:
        return [op.key.data for op in self.constants]

    @property
    def constant_bytes(self) -> int:
        """Return the bytes of the constants; optimal tensors count with their `planned_bytes`."""
        return sum(op.result.type.planned_bytes for op in self.constants)

    def work(self, command: Operation) -> CommandWork:
        assert isinstance(command, MLOp)
        values = (*command.operands, *command.results)
        return CommandWork(command.multiply_adds, sum(ml_tensor(v).bytes for v in values))

    def verify_(self) -> None:
        if self.version not in VERSIONS:
            raise VerifyException(
                f"the version must be {VERSIONS[0]} to {VERSIONS[-1]}, not {self.version}"
            )
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("a graph must end with clml.return")
        for op in self.body.block.ops:
            self._verify_op(op)
        self._verify_element_types()
        self._verify_packings()
        self._verify_boundary()

    def _verify_op(self, op: Operation) -> None:
        if not isinstance(op, MLOp | ConstantOp | ReturnOp):
            raise VerifyException(f"{op.name} is not an operation of CLML")
        if isinstance(op, MLOp) and op.REQUIRED_VERSION > self.version:
            raise VerifyException(
                f"{op.name} requires version {op.REQUIRED_VERSION} of CLML, but the graph is for "
                f"version {self.version}"
            )

    def _verify_element_types(self) -> None:
        expected = ELEMENT_TYPES[self.arithmetic_mode]
        results = [result for op in self.body.block.ops for result in op.results]
        for value in (*self.body.block.args, *results):
            if not isinstance(value.type, MLTensorType):
                raise VerifyException(
                    f"the values of a graph must be CLML tensors, not {value.type}"
                )
            if value.type.element_type != expected:
                raise VerifyException(
                    f"arithmetic {self.arithmetic_mode} requires {expected}, but the graph has "
                    f"a tensor of {value.type.element_type}"
                )

    def _verify_packings(self) -> None:
        """Reject optimal tensors used only by copies: the device derives sizes from operations."""
        for op in self.body.block.ops:
            if not isinstance(op, CopyOp) or ml_tensor(op.result).layout is not Layout.OPTIMAL:
                continue
            if all(isinstance(use.operation, CopyOp) for use in op.result.uses):
                raise VerifyException(
                    "clml.copy creates an optimal tensor that only copies use, so its "
                    "size is unknown: remove it"
                )

    def _verify_boundary(self) -> None:
        for value in (*self.inputs, *self.outputs):
            type_ = ml_tensor(value)
            if type_.layout is not Layout.NCHW:
                raise VerifyException(
                    f"inputs and outputs of a graph must have the layout nchw, not {type_.layout}: "
                    "insert clml.copy"
                )
            if type_.usage is Usage.PARAMETER:
                raise VerifyException("inputs and outputs of a graph must not be parameters")
        verify_results(self.outputs, MLOp, "commands")

    @classmethod
    def parse(cls, parser: Parser) -> GraphOp:
        signature = GraphSignature.parse(parser)
        parser.parse_keyword("version")
        version = parser.parse_integer()
        parser.parse_keyword("arithmetic")
        arithmetic = parser.parse_str_enum(Arithmetic)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(signature.name, version, arithmetic, parser.parse_region(signature.arguments))
        op.attributes |= {} if attributes is None else attributes.data
        signature.check(parser, op.outputs)
        return op

    def print(self, printer: Printer) -> None:
        print_signature(printer, self.sym_name.data, self.inputs, self.outputs)
        printer.print_string(f" version {self.version} arithmetic {self.arithmetic_mode}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class CallOp(OffloadCallOp):
    """The values that a graph computes.

    `%y = clml.call @clml_0(%x) : (tensor<1x3x8x8xf32>) -> tensor<1x1000xf32>`

    Operands and results are plain tensors with the elements of the graph's tensors; shapes may
    differ.
    """

    name = "clml.call"
    GRAPH: ClassVar[type[OffloadGraphOp]] = GraphOp
