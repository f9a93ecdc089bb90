"""Import of functions of linalg on tensors as networks of nn operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    UnknownLoc,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, FillOp, ReduceOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.exceptions import VerifyException

from ...dialects import nn
from ...dialects.nn.types import matching_groups
from ...errors import CloptError
from ...messages.source import SourceModule
from ...weights import Weights
from ..builder import Builder
from . import scalars, shapes
from .bodies import Read, Structured, fold_of
from .contractions import contract
from .elementwise import elementwise
from .generics import generic
from .reductions import pool, reduce
from .views import NotNamedError, TensorView, dense, has_open_shape, static_shape

MAX_DEPTH = 64
"""Calls nested deeper than this are treated as recursion."""

_MANY_GATHERS = 2
"""Bodies with this many reads at computed indices become one kernel instead of one per read."""


class LinalgError(CloptError):
    """Raised for an operation that cannot be imported."""

    def __init__(self, op: Operation, reason: str):
        super().__init__(f"'{op.name}' {reason}")
        self.op = op


class FunctionImporter:
    """Importer of the operations of a function, in order, into a block."""

    def __init__(self, builder: Builder, module: ModuleOp, depth: int = 0):
        self._builder = builder
        self._module = module
        self._depth = depth
        self._views: dict[SSAValue, TensorView] = {}

    def run(self, block: Block, arguments: Sequence[TensorView]) -> Sequence[TensorView]:
        """Import the body of a function. Return its results."""
        self._views.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if isinstance(op, func.ReturnOp):
                return [self._view(value) for value in op.operands]
            self._import(op)
        raise CloptError("A function has no return; only functions of one block are supported.")

    def _import(self, op: Operation) -> None:
        if not isinstance(op.location, UnknownLoc):
            self._builder.location = op.location
        for result in op.results:
            if has_open_shape(result.type):
                raise LinalgError(
                    op,
                    f"has a result of dynamic shape, {result.type}, but clopt compiles for static "
                    "shapes; give the model's inputs static shapes before you lower it.",
                )
        try:
            views = self._results(op)
        except NotNamedError:
            raise LinalgError(op, "cannot be expressed by operations of nn.") from None
        except VerifyException as error:
            raise LinalgError(op, f"cannot be imported: {error}.") from error
        for result, view in zip(op.results, views, strict=True):
            if result.name_hint is not None and view.value.name_hint is None:
                view.value.name_hint = result.name_hint
            self._views[result] = view

    def _view(self, value: SSAValue) -> TensorView:
        return self._views[value]

    def _results(self, op: Operation) -> Sequence[TensorView]:
        handler = _HANDLERS.get(type(op))
        if handler is not None:
            return [handler(self, op)]
        if isinstance(op, func.CallOp):
            return self._call(op)
        if isinstance(op, LinalgStructuredOperation):
            return self._structured(op, Structured.of(op, self._view))
        if type(op) in scalars.HANDLERS and len(op.results) == 1:
            return [self._scalar(op)]
        raise LinalgError(
            op,
            "is not supported; lower it to linalg on tensors, with the dialects tensor, arith and "
            "math, first.",
        )

    def _structured(self, op: Operation, read: Structured) -> Sequence[TensorView]:
        try:
            if not read.reduced_loops and read.gathers < _MANY_GATHERS:
                return elementwise(self._builder, read, self._views)
            if not read.reduced_loops:
                return generic(self._builder, read, self._views)
            results = zip(op.results, read.outputs, strict=True)
            return [
                self._reduction(read.only(i)) if result.uses else output.view
                for i, (result, output) in enumerate(results)
            ]
        except NotNamedError:
            return generic(self._builder, read, self._views)

    def _reduction(self, read: Structured) -> TensorView:
        fold = fold_of(read.yielded[0], read.accumulators[0])
        for make in (
            lambda: contract(self._builder, read, fold),
            lambda: pool(self._builder, read, fold),
        ):
            try:
                return make()
            except NotNamedError:
                continue
        return reduce(self._builder, read, fold, self._views)

    def _scalar(self, op: Operation) -> TensorView:
        """Import an `arith` or `math` operation outside a body, on scalars or whole tensors."""
        (result,) = op.results
        shape = static_shape(result.type) or ()
        values = [dense(self._builder, self._view(value)) for value in op.operands]
        value = scalars.compute(self._builder, op, values)
        return TensorView.of(self._builder.expand(value, shape))

    def _call(self, op: func.CallOp) -> Sequence[TensorView]:
        name = op.callee.root_reference.data
        callee = next(
            (f for f in self._module.ops if isinstance(f, func.FuncOp) and f.sym_name.data == name),
            None,
        )
        if callee is None or not callee.body.blocks:
            raise LinalgError(op, f"calls @{name}, which the module does not define.")
        if self._depth == MAX_DEPTH:
            raise LinalgError(op, f"calls @{name}, which calls itself.")
        inner = FunctionImporter(self._builder, self._module, self._depth + 1)
        return inner.run(callee.body.block, [self._view(value) for value in op.operands])

    def constant(self, op: Operation) -> TensorView:
        """Import a constant; a splat repeats one element."""
        assert isinstance(op, arith.ConstantOp)
        try:
            array = scalars.constant_array(op)
        except NotNamedError:
            raise LinalgError(
                op, "has no elements: they were elided when the text was printed."
            ) from None
        first = array.reshape(-1)[:1]
        if array.size > 1 and (array == first).all():
            return TensorView.splat(self._builder.constant(first.reshape(())), array.shape)
        return TensorView.of(self._builder.constant(array, op.result.name_hint or ""))

    def empty(self, op: Operation) -> TensorView:
        """Import an uninitialised tensor as zeros."""
        type = cast("TensorType", op.results[0].type)
        zero = self._builder.constant(np.zeros((), nn.numpy_dtype(type.element_type)))
        return TensorView.splat(zero, type.get_shape())

    def fill(self, op: Operation) -> TensorView:
        """Import a tensor filled with one scalar."""
        view = self._view(op.operands[0])
        return TensorView.splat(view.value, static_shape(op.results[0].type) or ())

    def broadcast(self, op: Operation) -> TensorView:
        """Import a broadcast along new axes."""
        assert isinstance(op, BroadcastOp)
        shape = static_shape(op.results[0].type) or ()
        new = [int(n) for n in op.dimensions.get_values()]
        old = iter(range(len(shape) - len(new)))
        axes = [None if axis in new else next(old) for axis in range(len(shape))]
        return self._view(op.input).at(axes, shape)

    def reduce(self, op: Operation) -> TensorView:
        """Import a reduction over axes as a structured operation."""
        assert isinstance(op, ReduceOp)
        view, start = self._view(op.input), self._view(op.init)
        axes = {int(n) for n in op.dimensions.get_values()}
        loops = [AffineDimExpr(axis) for axis in range(len(view.shape))]
        kept = tuple(loop for loop in loops if loop.position not in axes)
        reads = [Read(view, tuple(loops))], [Read(start, kept)]
        return self._structured(op, Structured(*reads, op.region.block, view.shape))[0]

    def reshape(self, op: Operation) -> TensorView:
        """Import a reshape that merges or splits axes."""
        view, shape = self._view(op.operands[0]), static_shape(op.results[0].type) or ()
        return shapes.reshape(self._builder, view, _groups(op, view.shape, shape), shape)

    def cast(self, op: Operation) -> TensorView:
        """Import a cast between types with more or less static shapes as its operand."""
        return self._view(op.operands[0])

    def slice(self, op: Operation) -> TensorView:
        """Import a slice."""
        assert isinstance(op, tensor.ExtractSliceOp)
        box = _box(op, op.static_offsets, op.static_sizes, op.static_strides)
        shape = static_shape(op.result.type) or ()
        return shapes.extract_slice(self._builder, self._view(op.source), *box, shape)

    def insert_slice(self, op: Operation) -> TensorView:
        """Import the replacement of a slice."""
        assert isinstance(op, tensor.InsertSliceOp)
        box = _box(op, op.static_offsets, op.static_sizes, op.static_strides)
        return shapes.insert_slice(self._builder, self._view(op.source), self._view(op.dest), *box)

    def concat(self, op: Operation) -> TensorView:
        """Import a concatenation."""
        assert isinstance(op, tensor.ConcatOp)
        views = [self._view(value) for value in op.operands]
        return shapes.concat(self._builder, views, op.dim.value.data)

    def pad(self, op: Operation) -> TensorView:
        """Import padding with a constant."""
        assert isinstance(op, tensor.PadOp)
        low, high = (_static(op, attr) for attr in (op.static_low, op.static_high))
        last = op.region.block.last_op
        view = None if last is None else self._views.get(last.operands[0])
        array = None if view is None else self._builder.known(view.value)
        if array is None:
            raise LinalgError(op, "must pad with a constant.")
        return shapes.pad(self._builder, self._view(op.source), low, high, array.item())

    def extract(self, op: Operation) -> TensorView:
        """Import the read of an element at computed indices."""
        assert isinstance(op, tensor.ExtractOp)
        from . import gathers

        indices = [dense(self._builder, self._view(value)) for value in op.indices]
        return TensorView.of(gathers.gather(self._builder, self._view(op.tensor), indices, 0))

    def splat(self, op: Operation) -> TensorView:
        """Import a tensor filled with one scalar."""
        return TensorView.splat(
            self._view(op.operands[0]).value, static_shape(op.results[0].type) or ()
        )

    def from_elements(self, op: Operation) -> TensorView:
        """Import a tensor of scalars."""
        values = [self._builder.reshape(self._view(v).value, (1,)) for v in op.operands]
        shape = static_shape(op.results[0].type) or ()
        return TensorView.of(self._builder.reshape(self._builder.concat(values, 0), shape))

    def dim(self, op: Operation) -> TensorView:
        """Import the extent of an axis as a constant."""
        assert isinstance(op, tensor.DimOp)
        axis = self._builder.known(self._view(op.index).value)
        if axis is None:
            raise NotNamedError
        size = self._view(op.source).shape[int(axis)]
        return TensorView.of(
            self._builder.constant(
                nn.numpy_dtype(scalars.element_of(op.result.type)).type(size).reshape(())
            )
        )


_Handler = Callable[[FunctionImporter, Operation], TensorView]

_HANDLERS: dict[type[Operation], _Handler] = {
    arith.ConstantOp: FunctionImporter.constant,
    FillOp: FunctionImporter.fill,
    BroadcastOp: FunctionImporter.broadcast,
    ReduceOp: FunctionImporter.reduce,
    tensor.EmptyOp: FunctionImporter.empty,
    tensor.CollapseShapeOp: FunctionImporter.reshape,
    tensor.ExpandShapeOp: FunctionImporter.reshape,
    tensor.ReshapeOp: FunctionImporter.reshape,
    tensor.CastOp: FunctionImporter.cast,
    tensor.ExtractSliceOp: FunctionImporter.slice,
    tensor.InsertSliceOp: FunctionImporter.insert_slice,
    tensor.ConcatOp: FunctionImporter.concat,
    tensor.PadOp: FunctionImporter.pad,
    tensor.ExtractOp: FunctionImporter.extract,
    tensor.SplatOp: FunctionImporter.splat,
    tensor.FromElementsOp: FunctionImporter.from_elements,
    tensor.DimOp: FunctionImporter.dim,
}


def _groups(op: Operation, old: Sequence[int], new: Sequence[int]) -> Sequence[tuple[range, range]]:
    """Return the pairs of ranges of axes that a reshape maps to each other."""
    stated = op.properties.get("reassociation")
    if stated is None:
        return matching_groups(old, new)
    many: list[range] = []
    for group in cast("ArrayAttr[ArrayAttr[IntegerAttr]]", stated):
        first = many[-1].stop if many else 0
        many.append(range(first, first + len(group)))
    one = [range(i, i + 1) for i in range(len(many))]
    if len(many) == 0:  # a tensor of rank 0
        return [(range(len(old)), range(len(new)))]
    return list(zip(many, one, strict=True) if len(old) > len(new) else zip(one, many, strict=True))


def _static(op: Operation, attr: Attribute) -> Sequence[int]:
    numbers = nn.ints(attr)
    if DYNAMIC_INDEX in numbers:
        raise LinalgError(op, "has computed sizes or offsets; clopt requires constants.")
    return numbers


def _box(op: Operation, *attrs: Attribute) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    starts, sizes, steps = (_static(op, attr) for attr in attrs)
    return starts, sizes, steps


def import_linalg(read: SourceModule, weights: Weights) -> ModuleOp:
    """Import the public functions of a module, each as a network of nn operations.

    Large constants are stored in `weights`. Raises CloptError, with a source location, for anything
    that cannot be imported exactly.
    """
    try:
        functions = [
            _import_function(function, read.module, weights)
            for function in read.module.ops
            if isinstance(function, func.FuncOp) and _is_public(function)
        ]
    except LinalgError as error:
        raise read.error_at(error.op, str(error)) from error
    if not functions:
        raise CloptError(f"{read.source.name} has no public function to import.")
    return ModuleOp(functions)


def _is_public(function: func.FuncOp) -> bool:
    hidden = function.sym_visibility is not None and function.sym_visibility.data == "private"
    return not hidden and bool(function.body.blocks)


def _import_function(function: func.FuncOp, module: ModuleOp, weights: Weights) -> func.FuncOp:
    types = function.function_type
    for type in (*types.inputs, *types.outputs):
        if static_shape(type) is None:
            raise LinalgError(
                function,
                f"@{function.sym_name.data} has the type {type}; clopt requires tensors of static "
                "shapes.",
            )
    if len(function.body.blocks) != 1:
        raise LinalgError(function, f"@{function.sym_name.data} has more than one block.")
    block = Block(arg_types=types.inputs)
    builder = Builder(block, weights)
    for new, old in zip(block.args, function.body.block.args, strict=True):
        new.name_hint = old.name_hint
    arguments = [TensorView.of(builder.known_if_empty(value)) for value in block.args]
    views = FunctionImporter(builder, module).run(function.body.block, arguments)
    results = [builder.place(dense(builder, view)) for view in views]
    block.add_op(func.ReturnOp(*results))
    made = func.FuncOp(
        function.sym_name.data,
        (block.arg_types, [value.type for value in results]),
        Region(block),
        arg_attrs=function.arg_attrs,
        res_attrs=function.res_attrs,
    )
    nn.name_parameters(made)
    return made
