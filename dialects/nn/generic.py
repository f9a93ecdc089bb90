"""A loop nest with a scalar body, for computations that no named operation covers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    UnitAttr,
    f16,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue, TypedAttribute
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, int_array, integer, ints
from .base import NNOp
from .fused import YieldOp
from .interfaces import Role, Zeros
from .types import Tensor, count, numpy_dtype, tensor_type

SCALAR_OPERATIONS: tuple[type[Operation], ...] = (
    arith.ConstantOp,
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp),
    *(arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
    *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.DivSIOp, arith.DivUIOp),
    *(arith.RemSIOp, arith.RemUIOp, arith.FloorDivSIOp),
    *(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
    *(arith.AndIOp, arith.OrIOp, arith.XOrIOp, arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp),
    *(arith.CmpiOp, arith.CmpfOp, arith.SelectOp),
    *(arith.ExtFOp, arith.TruncFOp, arith.SIToFPOp, arith.UIToFPOp, arith.FPToSIOp),
    *(arith.FPToUIOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp),
    arith.BitcastOp,
    *(math.AbsFOp, math.CeilOp, math.FloorOp, math.RoundEvenOp, math.TruncOp),
    *(math.SqrtOp, math.RsqrtOp, math.ExpOp, math.ExpM1Op, math.LogOp, math.Log1pOp),
    *(math.SinOp, math.CosOp, math.TanOp, math.AsinOp, math.AcosOp, math.AtanOp),
    *(math.SinhOp, math.CoshOp, math.TanhOp, math.AsinhOp, math.AcoshOp, math.AtanhOp),
    *(math.ErfOp, math.PowFOp, math.CopySignOp),
)
"""The scalar operations allowed in a body, besides reads of tables and loop indices."""


@irdl_op_definition
class IndexOp(IRDLOperation):
    """The iteration number of a loop of the enclosing `nn.generic`."""

    name = "nn.index"
    loop = prop_def(I64)
    result = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "$loop attr-dict"

    def __init__(self, loop: int):
        super().__init__(properties={"loop": integer(loop)}, result_types=[IndexType()])


@irdl_op_definition
class GenericOp(NNOp):
    """A loop nest over `extents` whose body computes scalars.

    `maps` has one entry per operand, then one per result. An affine map passes the operand's
    element at that index to the body. An operand with the entry `unit` is passed whole, and the
    body reads it at computed indices (`tensor.extract`, which clamps them to the bounds). The map
    of a result names its loops, each once, or 0 for an axis of one element. Loops that no result
    has are reductions: with `init`, the body also receives the accumulated value of each result,
    initially the number in `init`, and yields the next one.
    """

    name = "nn.generic"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    BY_CHANNEL: ClassVar[bool] = True
    traits = traits_def(Pure(), IsolatedFromAbove())
    inputs = var_operand_def(TensorType)
    maps = prop_def(ArrayAttr)
    extents = prop_def(I64_ARRAY)
    elements = prop_def(ArrayAttr)
    """The element types of the results."""
    init = opt_prop_def(ArrayAttr)
    body = region_def("single_block")
    outputs = var_result_def(TensorType)
    assembly_format = FORMAT + " $body"

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        maps: Sequence[AffineMap | None],
        extents: Sequence[int],
        elements: Sequence[Attribute],
        body: Region,
        init: Sequence[Attribute] | None = None,
    ):
        """Create the operation; `maps` has operands (None: the body reads it), then results."""
        properties: dict[str, Attribute] = {
            "maps": ArrayAttr([UnitAttr() if m is None else AffineMapAttr(m) for m in maps]),
            "extents": int_array(extents),
            "elements": ArrayAttr(elements),
        }
        if init is not None:
            properties["init"] = ArrayAttr(init)
        inferred = self.inferred_types([tensor_type(v) for v in inputs], properties)
        super(NNOp, self).__init__(
            operands=[inputs], properties=properties, result_types=[inferred], regions=[body]
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        extents = ints(properties["extents"])
        require(min(extents, default=1) >= 0, f"extents {list(extents)} must not be negative")
        elements = _attributes(properties["elements"])
        maps = _maps(properties["maps"])
        require(bool(elements), "a generic must have at least one result")
        require(
            len(maps) == len(operand_types) + len(elements),
            f"{len(operand_types)} operands and {len(elements)} results need as many maps but "
            f"there are {len(maps)}",
        )
        for map_ in maps:
            require(
                map_ is None or map_.num_dims == len(extents),
                "a map must have all loops as dimensions",
            )
        for type, map_ in zip(operand_types, maps, strict=False):
            if map_ is not None:
                _check_inside(type.get_shape(), map_, extents)
        results = [_result_shape(map_, extents) for map_ in maps[len(operand_types) :]]
        written = {frozenset(_loops(map_)) for map_ in maps[len(operand_types) :] if map_}
        require(len(written) == 1, "all results must have the same loops")
        reduces = any(set(range(len(extents))) - loops for loops in written)
        starts = _attributes(properties.get("init"))
        require(
            len(starts) == (len(elements) if "init" in properties else 0),
            "init must have an entry per result",
        )
        require(reduces == ("init" in properties), "init is for loops that no result has")
        for element in elements:
            numpy_dtype(element)
        for start, element in zip(starts, elements, strict=False):
            typed = start.get_type() if isinstance(start, TypedAttribute) else None
            require(typed == element, f"a result of {element} cannot start from {start}")
        return [TensorType(e, s) for e, s in zip(elements, results, strict=True)]

    def role(self) -> Role | None:
        return Role.ELEMENTWISE if self._is_elementwise() else self.ROLE

    def _is_elementwise(self) -> bool:
        """Return whether it computes elements of one result from operands that broadcast to it."""
        *maps, result = self.operand_maps + self.result_maps[-1:]
        rank = len(self.loop_extents)
        if self.init is not None or len(self.outputs) != 1 or result != AffineMap.identity(rank):
            return False
        for map_, operand in zip(maps, self.inputs, strict=True):
            if map_ is None:
                return False
            shape = tensor_type(operand).get_shape()
            first = rank - len(shape)
            for axis, index in enumerate(map_.results):
                is_axis = isinstance(index, AffineDimExpr) and index.position == first + axis
                if not is_axis and not (_is_zero(index) and shape[axis] == 1):
                    return False
        return True

    def is_costly(self) -> bool:
        return True

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        return False

    def visits(self) -> int:
        return max(super().visits(), count(self.loop_extents) * len(self.body.block.ops))

    @property
    def loop_extents(self) -> tuple[int, ...]:
        """Return the number of iterations of each loop."""
        return ints(self.extents)

    @property
    def operand_maps(self) -> list[AffineMap | None]:
        """Return the map of each operand; None for operands that the body reads itself."""
        return _maps(self.maps)[: len(self.inputs)]

    @property
    def result_maps(self) -> list[AffineMap]:
        """Return the map of each result."""
        return [map_ for map_ in _maps(self.maps)[len(self.inputs) :] if map_ is not None]

    @property
    def starts(self) -> list[int | float]:
        """Return the initial value of each result of a reduction."""
        numbers = cast("Sequence[IntegerAttr | FloatAttr]", _attributes(self.init))
        return [attr.value.data for attr in numbers]

    @property
    def written_loops(self) -> list[int]:
        """Return the loops of the results, in the order of the first one's axes."""
        return _loops(self.result_maps[0])

    @property
    def reduced_loops(self) -> list[int]:
        """Return the loops that no result has."""
        written = self.written_loops
        return [loop for loop in range(len(self.loop_extents)) if loop not in written]

    def verify_(self) -> None:
        super().verify_()
        block, last = self.body.block, self.body.block.last_op
        expected: list[Attribute] = [
            value.type if map_ is None else tensor_type(value).element_type
            for value, map_ in zip(self.inputs, self.operand_maps, strict=True)
        ]
        elements = list(_attributes(self.elements))
        if self.init is not None:
            expected += elements
        if [argument.type for argument in block.args] != expected:
            raise VerifyException(
                f"the body must have arguments {', '.join(map(str, expected))} but has "
                f"{', '.join(str(argument.type) for argument in block.args)}"
            )
        if not isinstance(last, YieldOp) or [v.type for v in last.values] != elements:
            raise VerifyException("the body must end with nn.yield of an element for each result")
        for op in block.ops:
            self._verify_scalar(op)

    def _verify_scalar(self, op: Operation) -> None:
        if isinstance(op, IndexOp):
            (loop,) = ints(op.loop)
            require(0 <= loop < len(self.loop_extents), f"there is no loop {loop}")
        elif isinstance(op, tensor.ExtractOp):
            is_argument = op.tensor in self.body.block.args
            require(is_argument, "tensor.extract must read an argument of the body")
        elif isinstance(op, arith.BitcastOp):
            require(
                f16 not in (op.input.type, op.result.type), "f16 is computed in f32: it has no bits"
            )
        elif not isinstance(op, (*SCALAR_OPERATIONS, YieldOp)):
            raise VerifyException(f"{op.name} is not allowed in the body of a generic")


def _attributes(attr: Attribute | None) -> tuple[Attribute, ...]:
    return () if attr is None else cast("ArrayAttr[Attribute]", attr).data


def _maps(attr: Attribute) -> list[AffineMap | None]:
    maps: list[AffineMap | None] = []
    for entry in _attributes(attr):
        if not isinstance(entry, AffineMapAttr | UnitAttr):
            raise VerifyException(f"an entry of maps must be an affine map or unit, not {entry}")
        maps.append(entry.data if isinstance(entry, AffineMapAttr) else None)
    return maps


def _is_zero(index: AffineExpr) -> bool:
    return isinstance(index, AffineConstantExpr) and index.value == 0


def _loops(map_: AffineMap) -> list[int]:
    return [index.position for index in map_.results if isinstance(index, AffineDimExpr)]


def _result_shape(map_: AffineMap | None, extents: Sequence[int]) -> list[int]:
    if map_ is None:
        raise VerifyException("a result must have a map")
    loops = _loops(map_)
    plain = len(set(loops)) == len(loops)
    if not plain or not all(isinstance(i, AffineDimExpr) or _is_zero(i) for i in map_.results):
        raise VerifyException(f"a result's map must name each loop once, not {map_}")
    return [extents[i.position] if isinstance(i, AffineDimExpr) else 1 for i in map_.results]


def _check_inside(shape: Sequence[int], map_: AffineMap, extents: Sequence[int]) -> None:
    rank = len(map_.results)
    require(rank == len(shape), f"{map_} has {rank} indices for a tensor of rank {len(shape)}")
    if 0 in extents:
        return
    for index, size in zip(map_.results, shape, strict=True):
        low, high = _bounds(index, extents)
        require(
            0 <= low <= high < size, f"{index} ranges from {low} to {high}, outside {size} elements"
        )


def _bounds(index: AffineExpr, extents: Sequence[int]) -> tuple[int, int]:
    """Return the minimum and maximum of an index."""
    match index:
        case AffineDimExpr():
            return 0, extents[index.position] - 1
        case AffineConstantExpr():
            return index.value, index.value
        case AffineBinaryOpExpr():
            (a, b), (c, d) = _bounds(index.lhs, extents), _bounds(index.rhs, extents)
        case _:
            raise VerifyException(f"{index} is not a supported index expression")
    if index.kind is AffineBinaryOpKind.Add:
        return a + c, b + d
    require(c == d, f"{index} is not a linear index")
    match index.kind:
        case AffineBinaryOpKind.Mul:
            return min(a * c, b * c), max(a * c, b * c)
        case AffineBinaryOpKind.FloorDiv if c > 0:
            return a // c, b // c
        case AffineBinaryOpKind.CeilDiv if c > 0:
            return -(-a // c), -(-b // c)
        case AffineBinaryOpKind.Mod if c > 0:
            return (a, b) if 0 <= a and b < c else (0, c - 1)
        case _:
            raise VerifyException(f"{index} is not a supported index expression")
