"""Kernels as Python source: a statement for each operation, over numpy scalars of its types.

`interpreter` provides the functions that the source calls (`load`, `texel_read`, `quotient` ...).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from clopt.dialects import tir

_FLOATS: dict[Attribute, str] = {f16: "float16", f32: "float32", f64: "float64"}
_CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_CMPF = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

_FUNCTIONS = {
    "tir.dot": "dot",
    **{
        f"math.{name}": f"np.{function}"
        for name, function in (
            row.split(":") if ":" in row else (row, row)
            for row in (
                "absf:abs ceil copysign cos cosh exp expm1 floor log log1p powf:power sin sinh "
                "sqrt tan tanh trunc acos:arccos acosh:arccosh asin:arcsin asinh:arcsinh "
                "atan:arctan atanh:arctanh roundeven:rint"
            ).split()
        )
    },
    "math.erf": "BUILTINS['erf']",
    "math.rsqrt": "rsqrt",
    "arith.maximumf": "np.maximum",
    "arith.minimumf": "np.minimum",
    "arith.maxnumf": "np.fmax",
    "arith.minnumf": "np.fmin",
    "arith.maxsi": "max",
    "arith.minsi": "min",
    "arith.divsi": "quotient",
}

_FORMULAS = {
    **dict.fromkeys(("arith.addf", "arith.addi"), "{0} + {1}"),
    **dict.fromkeys(("arith.subf", "arith.subi"), "{0} - {1}"),
    **dict.fromkeys(("arith.mulf", "arith.muli"), "{0} * {1}"),
    "arith.divf": "{0} / {1}",
    "arith.negf": "-{0}",
    "arith.andi": "{0} & {1}",
    "arith.ori": "{0} | {1}",
    "arith.xori": "{0} ^ {1}",
    "arith.shli": "{0} << {1}",
    "arith.shrsi": "{0} >> {1}",
    "arith.shrui": "signless(unsigned({0}) >> unsigned({1}))",
    "arith.remsi": "{0} - quotient({0}, {1}) * {1}",
    "arith.divui": "signless(unsigned({0}) // unsigned({1}))",
    "arith.remui": "signless(unsigned({0}) % unsigned({1}))",
    "arith.maxui": "signless(max(unsigned({0}), unsigned({1})))",
    "arith.minui": "signless(min(unsigned({0}), unsigned({1})))",
    "arith.select": "({1} if {0} else {2})",
}

_CONVERSIONS = {
    **dict.fromkeys(
        ("arith.extf", "arith.truncf", "arith.extsi", "arith.trunci", "arith.index_cast"), "{0}"
    ),
    "arith.sitofp": "{0}",
    "arith.extui": "int(unsigned({0}))",
    "arith.uitofp": "int(unsigned({0}))",
    "arith.fptosi": "int({0})",
    "arith.fptoui": "int({0})",
}


class Translator:
    """Writes the Python statements of one kernel."""

    def __init__(self, per_item: bool) -> None:
        self.per_item = per_item
        self.lines: list[str] = []
        self.names: dict[SSAValue, str] = {}
        self.rolled = 0

    def name(self, value: SSAValue) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def block(self, block: Block, depth: int) -> None:
        start = len(self.lines)
        for op in block.ops:
            self.operation(op, depth)
        if len(self.lines) == start:
            self.emit(depth, "pass")

    def operation(self, op: Operation, depth: int) -> None:
        match op:
            case tir.ForOp() if self.per_item and op.kind.data.is_bound:
                index = f"ids[{op.kind.data.value!r}]"
                self.emit(depth, f"for {self.name(op.var)} in only({index}, {op.size}):")
                self.block(op.body.block, depth + 1)
            case tir.BarrierOp():
                self.emit(depth, "yield" if self.per_item else "pass")
            case tir.ForOp():
                bound = str(op.size)
                if op.kind.data is tir.LoopKind.Rolled:
                    bound = f"bounds[{self.rolled}]"
                    self.rolled += 1
                self.emit(depth, f"for {self.name(op.var)} in range({bound}):")
                self.block(op.body.block, depth + 1)
            case tir.BlockOp():
                self.tir_block(op, depth)
            case scf.IfOp():
                self.branch(op, depth)
            case scf.YieldOp():
                pass
            case memref.StoreOp():
                self.store(op, self.name(op.value), depth)
            case tir.TexelWriteOp():
                texel = self.texel(op.destination, op.coords, op.lane)
                self.emit(depth, f"texel_write({texel}, {self.name(op.value)}, lanes)")
            case _:
                (result,) = op.results or (None,)
                target = "" if result is None else f"{self.name(result)} = "
                self.emit(depth, target + self.expression(op))

    def tir_block(self, op: tir.BlockOp, depth: int) -> None:
        loops = [self.name(loop) for loop in op.loops]
        for var, expr in zip(op.iter_vars, op.exprs, strict=True):
            self.emit(depth, f"{self.name(var)} = {_affine(expr, loops)}")
        inside = [
            f"0 <= {self.name(var)} < {extent}"
            for var, extent in zip(op.iter_vars, op.iter_extents, strict=True)
        ]
        self.emit(depth, f"if {' and '.join(inside) or 'True'}:")
        depth += 1
        if op.is_reduction:
            first = [
                f"{self.name(var)} == 0"
                for var, kind in zip(op.iter_vars, op.iter_kinds, strict=True)
                if kind is tir.IterKind.Reduce
            ]
            self.emit(depth, f"if {' and '.join(first)}:")
            self.initialise(op, depth + 1)
        self.block(op.body.block, depth)

    def initialise(self, op: tir.BlockOp, depth: int) -> None:
        stores = op.stores()
        needed: set[Operation] = set()
        pending = [index for store in stores for index in store.indices]
        while pending:
            owner = pending.pop().owner
            if isinstance(owner, Operation) and owner not in needed:
                needed.add(owner)
                pending += owner.operands
        for inner in op.body.walk():
            if inner in needed:
                self.operation(inner, depth)
        for store, value in zip(stores, op.init.data, strict=True):
            self.store(store, _literal(value), depth)

    def branch(self, op: scf.IfOp, depth: int) -> None:
        self.emit(depth, f"if {self.name(op.cond)}:")
        for region in op.regions:
            if not region.blocks:
                continue
            block = region.block
            if region is op.regions[1]:
                self.emit(depth, "else:")
            self.block(block, depth + 1)
            last = block.last_op
            if isinstance(last, scf.YieldOp) and op.results:
                for result, value in zip(op.results, last.operands, strict=True):
                    self.emit(depth + 1, f"{self.name(result)} = {self.name(value)}")

    def store(self, op: memref.StoreOp, value: str, depth: int) -> None:
        index = "".join(f"{self.name(i)}, " for i in op.indices)
        self.emit(depth, f"store({self.name(op.memref)}, ({index}), {value})")

    def texel(self, buffer: SSAValue, coords: Sequence[SSAValue], lane: SSAValue) -> str:
        assert isinstance(buffer.type, MemRefType)
        if tir.is_texture(buffer.type):
            extents = tir.image_of(buffer.type).extents
        else:
            extents = (math.prod(buffer.type.get_shape()) // tir.TEXEL,)
        values = "".join(f"{self.name(coord)}, " for coord in coords)
        return f"{self.name(buffer)}, {extents}, ({values}), {self.name(lane)}"

    def expression(self, op: Operation) -> str:
        operands = [self.name(value) for value in op.operands]
        match op:
            case arith.ConstantOp():
                return _literal(op.value)
            case affine.ApplyOp():
                return _affine(op.map.data.results[0], operands)
            case memref.LoadOp():
                return f"load({operands[0]}, ({''.join(f'{i}, ' for i in operands[1:])}))"
            case tir.LoadQuadOp():
                return f"load_quad({operands[0]}, ({''.join(f'{i}, ' for i in operands[1:])}))"
            case tir.TexelReadOp():
                texel = self.texel(op.source, op.coords, op.lane)
                return f"texel_read({texel}, {op.border is not None})"
            case memref.AllocaOp() | memref.AllocOp():
                assert isinstance(op.memref.type, MemRefType)
                fresh = f"rubbish({op.memref.type.get_shape()}, {_dtype(op.memref.type)!r})"
                if self.per_item and op.memref.type.memory_space == tir.ScopeAttr(tir.Scope.Local):
                    return f"shared.setdefault({self.name(op.memref)!r}, {fresh})"
                return fresh
            case arith.CmpiOp():
                return _compare_integers(_CMPI[op.predicate.value.data], *operands)
            case arith.CmpfOp():
                predicate = _CMPF[op.predicate.value.data]
                return f"compare_floats({predicate!r}, {operands[0]}, {operands[1]})"
            case tir.CallOp():
                return f"BUILTINS[{op.callee.data!r}]({', '.join(operands)})"
            case _:
                return self.simple(op, operands)

    def simple(self, op: Operation, operands: Sequence[str]) -> str:
        if op.name in _FUNCTIONS:
            return f"{_FUNCTIONS[op.name]}({', '.join(operands)})"
        if op.name in _FORMULAS:
            return _FORMULAS[op.name].format(*operands)
        if op.name in _CONVERSIONS:
            return _convert(op.results[0].type, _CONVERSIONS[op.name].format(*operands))
        raise NotImplementedError(op.name)


def _compare_integers(predicate: str, a: str, b: str) -> str:
    symbol = _COMPARE[predicate[-2:]]
    if predicate.startswith("u"):
        return f"bool(unsigned({a}) {symbol} unsigned({b}))"
    return f"bool({a} {symbol} {b})"


def _convert(type_: Attribute, value: str) -> str:
    if isinstance(type_, IndexType):
        return f"int({value})"
    if type_ in _FLOATS:
        return f"np.{_FLOATS[type_]}({value})"
    if type_ == i1:
        return f"bool({value})"
    assert isinstance(type_, IntegerType)
    return f"np.array({value}).astype('i{type_.width.data // 8}')[()]"


def _literal(attr: Attribute) -> str:
    assert isinstance(attr, FloatAttr | IntegerAttr)
    return _convert(
        attr.type,
        f"float('{attr.value.data!r}')" if isinstance(attr, FloatAttr) else str(attr.value.data),
    )


def _affine(expr: AffineExpr, dims: Sequence[str]) -> str:
    match expr:
        case AffineConstantExpr():
            return str(expr.value)
        case AffineDimExpr():
            return dims[expr.position]
        case AffineBinaryOpExpr():
            a, b = _affine(expr.lhs, dims), _affine(expr.rhs, dims)
            if expr.kind is AffineBinaryOpKind.CeilDiv:
                return f"(-(-{a} // {b}))"
            symbol = {"Add": "+", "Mul": "*", "FloorDiv": "//", "Mod": "%"}[expr.kind.name]
            return f"({a} {symbol} {b})"
        case _:
            raise NotImplementedError(str(expr))


def _dtype(type_: MemRefType) -> str:
    element = type_.element_type
    if element == i1:
        return "bool"
    return _FLOATS[element] if element in _FLOATS else f"i{element.width.data // 8}"
