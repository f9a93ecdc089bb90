"""`vta.graph`: layers that the accelerator computes in one program, and their results."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint, TensorType
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..graph_signature import GraphSignature, print_signature, verify_results
from ..nn.constant import ConstantOp
from .config import Config, ConfigAttr
from .layers import LayerOp
from .windows import ConcatOp


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The terminator of a graph, with the tensors that it returns."""

    name = "vta.return"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


@irdl_op_definition
class GraphOp(IRDLOperation):
    """Layers on int8 tensors, with nn.constant for their weights and biases.

    `vta.graph @g(%x : tensor<1x64x56x56xi8>) -> tensor<1x64x56x56xi8> #vta.config<…> { … }`

    In DRAM, activations are in tiles of batch x block: `N/batch, C/block, H, W, batch, block`,
    padded with zeros. A graph returns results of layers, each once.
    """

    name = "vta.graph"
    sym_name = prop_def(SymbolNameConstraint())
    config_attr = prop_def(ConfigAttr, prop_name="config")
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, config: Config, body: Region):
        super().__init__(
            properties={"sym_name": StringAttr(name), "config": ConfigAttr(config)},
            regions=[body],
        )

    @property
    def config(self) -> Config:
        """Return the configuration of the core."""
        return self.config_attr.data

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
    def layers(self) -> list[LayerOp]:
        """Return its layers in order."""
        return [op for op in self.body.block.ops if isinstance(op, LayerOp)]

    def verify_(self) -> None:
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("a graph must end with vta.return")
        for op in self.body.block.ops:
            if not isinstance(op, LayerOp | ConstantOp | ReturnOp):
                raise VerifyException(f"{op.name} is not a layer of VTA")
            if isinstance(op, LayerOp):
                _verify_constants(op)
            if isinstance(op, ConcatOp) and (why_not := op.why_not(self.config)):
                raise VerifyException(why_not)
        verify_results(self.outputs, LayerOp, "layers")

    @classmethod
    def parse(cls, parser: Parser) -> GraphOp:
        signature = GraphSignature.parse(parser)
        start = parser.pos
        config = parser.parse_attribute()
        if not isinstance(config, ConfigAttr):
            parser.raise_error("expected a #vta.config", start, parser.pos)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(signature.name, config.data, parser.parse_region(signature.arguments))
        op.attributes |= {} if attributes is None else attributes.data
        signature.check(parser, op.outputs)
        return op

    def print(self, printer: Printer) -> None:
        print_signature(printer, self.sym_name.data, self.inputs, self.outputs)
        printer.print_string(" ")
        printer.print_attribute(self.config_attr)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _verify_constants(layer: LayerOp) -> None:
    """Verify that weights and biases are constants, and activations are not."""
    for i, value in enumerate(layer.operands):
        is_activation = i < layer.ACTIVATIONS
        if isinstance(value.owner, ConstantOp) == is_activation:
            what = "an activation" if is_activation else "a constant"
            raise VerifyException(f"operand {i} of {layer.name} must not be {what}")
