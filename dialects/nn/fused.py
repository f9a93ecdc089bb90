"""Regions that become one kernel, in a network and in a queue program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .. import tir
from .buffers import buffer_type
from .layout import LayoutAttr, plain_type, with_layout
from .types import Tensor, tensor_type


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region with its results: tensors in nn.fused and nn.kernel, scalars in nn.generic."""

    name = "nn.yield"
    values = var_operand_def()
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(*_parents()), Pure()))
    assembly_format = "operands attr-dict `:` type(operands)"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


@irdl_op_definition
class FusedOp(IRDLOperation):
    """A group of operations that becomes one kernel; its block arguments are the operands.

    Operands and results may have layouts (`nn.layout`), in which the kernel reads and writes them.
    Tensors inside the region are plain.
    """

    name = "nn.fused"
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure(), IsolatedFromAbove())
    assembly_format = "operands attr-dict `:` functional-type(operands, results) $body"

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        body: Region | Block,
        layouts: Sequence[LayoutAttr | None] | None = None,
    ):
        """Create the operation; `layouts` are the layouts of the results, plain by default."""
        region = Region(body) if isinstance(body, Block) else body
        last = region.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the region of nn.fused must end with nn.yield")
        if layouts is None:
            layouts = [None] * len(last.values)
        super().__init__(
            operands=[inputs],
            result_types=[
                [
                    with_layout(tensor_type(v), layout)
                    for v, layout in zip(last.values, layouts, strict=True)
                ]
            ],
            regions=[region],
        )

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """Return the values that the region yields."""
        return _yielded(self.body)

    def verify_(self) -> None:
        inputs, outputs = ([v.type for v in values] for values in (self.inputs, self.outputs))
        _verify_region(self, self.body, inputs, outputs)


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel of a queue program before it has loops: a region, which launches refer to by name.

    `nn.kernel @add_0 {constants = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`

    The block arguments are the inputs. A launch passes the input buffers, then the output buffers,
    in the layouts of the function type; tensors inside the region are plain. `constants` lists the
    inputs that every launch binds to a constant, `rows` the arguments that may be rows of a buffer
    (`cl.row`), `runs_if` conditions as in `tir.func`. `comment` names the nodes of the model.
    """

    name = "nn.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    constants = opt_prop_def(DenseArrayBase[I64])
    rows = opt_prop_def(DenseArrayBase[I64])
    runs_if = opt_prop_def(ArrayAttr)
    comment = opt_prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$sym_name attr-dict `:` $function_type $body"

    def __init__(
        self,
        name: str,
        inputs: Sequence[Attribute],
        outputs: Sequence[Attribute],
        body: Region,
        *,
        constants: Sequence[int] = (),
        rows: Sequence[int] = (),
        runs_if: Sequence[tir.RunCondition] = (),
        comment: str | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(inputs, outputs),
                "constants": DenseArrayBase.from_list(i64, constants) if constants else None,
                "rows": DenseArrayBase.from_list(i64, rows) if rows else None,
                "runs_if": tir.run_conditions_attribute(runs_if),
                "comment": None if comment is None else StringAttr(comment),
            },
            regions=[body],
        )

    @property
    def types(self) -> tuple[Tensor, ...]:
        """Return the tensors of a launch with their layouts: the inputs, then the outputs."""
        type_ = self.function_type
        return tuple(cast(Tensor, type) for type in (*type_.inputs, *type_.outputs))

    @property
    def layouts(self) -> list[LayoutAttr | None]:
        """Return the layouts of the inputs, then of the outputs."""
        encodings = (type_.encoding for type_ in self.types)
        return [encoding if isinstance(encoding, LayoutAttr) else None for encoding in encodings]

    @property
    def arg_types(self) -> tuple[MemRefType, ...]:
        """Return the types of the arguments of a launch."""
        return tuple(map(buffer_type, self.types))

    @property
    def output_indices(self) -> range:
        """Return the positions of the arguments that the kernel writes."""
        return range(len(self.function_type.inputs), len(self.types))

    @property
    def constant_indices(self) -> tuple[int, ...]:
        """Return the positions of the arguments that are constants at every launch."""
        return () if self.constants is None else tuple(self.constants.iter_values())

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """Return the values that the region yields."""
        return _yielded(self.body)

    def verify_(self) -> None:
        type_ = self.function_type
        _verify_region(self, self.body, type_.inputs.data, type_.outputs.data)
        for i in self.constant_indices:
            if not 0 <= i < len(type_.inputs):
                raise VerifyException(f"constant {i} is not one of {len(type_.inputs)} inputs")
        for i in () if self.rows is None else self.rows.iter_values():
            if not 0 <= i < len(self.types):
                raise VerifyException(f"row {i} is not one of {len(self.types)} arguments")
        tir.verify_run_conditions(self.runs_if, self.arg_types, self.output_indices)


def _parents() -> tuple[type[Operation], ...]:
    from .generic import GenericOp  # a cyclic import otherwise

    return FusedOp, KernelOp, GenericOp


def _yielded(body: Region) -> Sequence[SSAValue]:
    """Return the values that the region of a kernel yields."""
    last = body.block.last_op
    assert isinstance(last, YieldOp)
    return last.values


def _verify_region(
    op: Operation, body: Region, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
) -> None:
    """Verify that the region has the plain types of the kernel's inputs and outputs."""
    for type in (*inputs, *outputs):
        if not isinstance(type, TensorType):
            raise VerifyException(f"{type} is not a tensor type")
        if not type.has_static_shape():
            raise VerifyException(f"{type} has a dynamic dimension; nn requires static shapes")
    last = body.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"the region of {op.name} must end with nn.yield")
    if [v.type for v in body.block.args] != [plain_type(type) for type in inputs]:
        raise VerifyException(f"block arguments and operands of {op.name} differ in type")
    if [v.type for v in last.values] != [plain_type(type) for type in outputs]:
        raise VerifyException(f"yielded values and results of {op.name} differ in type")
