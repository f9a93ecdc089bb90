"""Loops with a known trip count, whose bodies are networks of the module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    ModuleOp,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from ..properties import int_array, ints
from .networks import networks_of


class _RunsBody(SymbolUserOpInterface):
    """Verifies that a loop fits the signature of its body."""

    def verify(self, op: Operation) -> None:
        loop = cast("LoopOp", op)
        body = SymbolTable.lookup_symbol(op, loop.body)
        if not isinstance(body, func.FuncOp):
            raise VerifyException(f"the module has no func.func @{loop.body_name}")
        if body is loop.parent_op():
            raise VerifyException(f"@{loop.body_name} contains the loop, so it cannot be its body")
        type_ = body.function_type
        for what, wanted, found in (
            ("takes", loop.body_inputs, type_.inputs.data),
            ("returns", loop.body_outputs, type_.outputs.data),
        ):
            if list(wanted) != list(found):
                raise VerifyException(
                    f"@{loop.body_name} {what} ({_listed(found)}), but an iteration of the loop "
                    f"needs ({_listed(wanted)})"
                )


@irdl_op_definition
class LoopOp(IRDLOperation):
    """Computes a network `trips` times; each iteration continues with the values of the last.

    `%h, %y = nn.loop @step %h0, %x, %w {trips = 9 : i64, carried = 1 : i64, rows = 1 : i64} :
    (tensor<4xf32>, tensor<9x2xf32>, tensor<2x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>)`

    The operands are the initial values of the `carried` ones, then tensors of which iteration t
    gets row t, their part at index t of axis 0 (`rows` of them), then tensors that every iteration
    gets whole. The body, a private function of the module, takes these in this order. It returns
    the next carried values, then rows of results. The loop returns the last carried values, then
    the stacked rows. `reversed` lists the tensors of rows, those read before those written, whose
    rows are in the opposite order: iteration 0 has the last row.
    """

    name = "nn.loop"
    body = prop_def(FlatSymbolRefAttrConstr)
    trips = prop_def(IntegerAttr[I64])
    carried = prop_def(IntegerAttr[I64])
    rows = prop_def(IntegerAttr[I64])
    reversed = opt_prop_def(DenseArrayBase[I64])
    inputs = var_operand_def(TensorType)
    res = var_result_def(TensorType)
    traits = traits_def(Pure(), _RunsBody())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$body operands attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        body: str,
        trips: int,
        initial: Sequence[SSAValue],
        rows: Sequence[SSAValue],
        shared: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        reversed: Sequence[int] = (),
    ):
        super().__init__(
            operands=[[*initial, *rows, *shared]],
            properties={
                "body": SymbolRefAttr(body),
                "trips": IntegerAttr(trips, i64),
                "carried": IntegerAttr(len(initial), i64),
                "rows": IntegerAttr(len(rows), i64),
                "reversed": int_array(reversed) if reversed else None,
            },
            result_types=[result_types],
        )

    @property
    def body_name(self) -> str:
        """Return the name of the body."""
        return self.body.root_reference.data

    @property
    def trip_count(self) -> int:
        """Return the number of iterations."""
        return self.trips.value.data

    @property
    def carried_count(self) -> int:
        """Return the number of values that an iteration hands to the next."""
        return self.carried.value.data

    @property
    def row_count(self) -> int:
        """Return the number of operands that each iteration reads one row of."""
        return self.rows.value.data

    @property
    def body_inputs(self) -> list[Attribute]:
        """Return the types that the body takes."""
        first, end = self.carried_count, self.carried_count + self.row_count
        types = [value.type for value in self.inputs]
        return [*types[:first], *map(row_type, types[first:end]), *types[end:]]

    @property
    def body_outputs(self) -> list[Attribute]:
        """Return the types that the body returns."""
        types = [value.type for value in self.res]
        return [*types[: self.carried_count], *map(row_type, types[self.carried_count :])]

    def is_reversed(self, number: int) -> bool:
        """Return whether iteration 0 has the last row of a tensor, counted from the first read."""
        return number in ints(self.reversed)

    def verify_(self) -> None:
        if self.trip_count < 1:
            raise VerifyException(f"trips must be positive, not {self.trip_count}")
        carried, rows = self.carried_count, self.row_count
        if not 0 <= carried <= min(len(self.inputs), len(self.res)):
            raise VerifyException(
                f"{carried} carried values need as many operands and results, but the loop has "
                f"{len(self.inputs)} and {len(self.res)}"
            )
        if not 0 <= rows <= len(self.inputs) - carried:
            raise VerifyException(
                f"rows must be at most the {len(self.inputs) - carried} operands that are not "
                f"carried, not {rows}"
            )
        for value, result in zip(self.inputs[:carried], self.res[:carried], strict=True):
            if value.type != result.type:
                raise VerifyException(
                    f"a carried value must keep its type, but {value.type} becomes {result.type}"
                )
        stacked = [*self.inputs[carried : carried + rows], *self.res[carried:]]
        for value in stacked:
            shape = cast("TensorType[Attribute]", value.type).get_shape()
            if not shape or shape[0] != self.trip_count:
                raise VerifyException(
                    f"{value.type} must have {self.trip_count} rows, one for each iteration"
                )
        for number in ints(self.reversed):
            if not 0 <= number < len(stacked):
                raise VerifyException(
                    f"reversed lists {number}, but the loop has {len(stacked)} tensors of rows"
                )


def row_type(type_: Attribute) -> Attribute:
    """Return the type of a row: the tensor without axis 0."""
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(tensor.element_type, tensor.get_shape()[1:])


def loop_bodies(module: ModuleOp) -> set[str]:
    """Return the names of the functions that are bodies of loops."""
    return {op.body_name for op in module.walk() if isinstance(op, LoopOp)}


def entries_of(module: ModuleOp) -> list[func.FuncOp]:
    """Return the networks of a module except for bodies of loops."""
    bodies = loop_bodies(module)
    return [network for network in networks_of(module) if network.sym_name.data not in bodies]


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))
