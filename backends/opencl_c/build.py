"""Symbolic execution of a lowered kernel, which builds its `ExpressionGraph`.

The body of an `unrolled` loop is executed once per iteration, with the loop variable as a constant.
The body of a vectorized loop is executed once, and values that differ between lanes are vectors. An
operation without a vector form is executed once per lane, on that lane of its operands.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block as IRBlock
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.tir.affine import Linear
from ...errors import CloptError
from ...machine.target import Target
from .conditionals import Conditionals
from .expressions import Expressions
from .guards import Guards
from .index import IndexSpace, constant
from .index_operations import IndexOperations
from .memory import KernelMemory
from .operations import Operations
from .storage import Storages, has_barrier, needs_long
from .texels import Texels
from .types import INT, LONG
from .values import (
    Array,
    Barrier,
    Block,
    CountedLoop,
    ExpressionGraph,
    If,
    Node,
    Storage,
    Texture,
    Variable,
)
from .work_items import WorkItems

Value = Node | Linear


class KernelTextBuilder:
    """A builder of the graph of one kernel."""

    def __init__(self, func: tir.FuncOp, target: Target):
        self.func = func
        self.graph = ExpressionGraph()
        self.space = IndexSpace()
        self.index_type = LONG if needs_long(func) else INT
        self.ex = Expressions(self.graph, self.space, self.index_type)
        self.storages = Storages(func)
        self.memory = KernelMemory(self.ex, self.storages, target)
        self.texels = Texels(func, self.ex, self.memory, target)
        self.operations = Operations(self.ex, target)
        self.indices = IndexOperations(self.ex, self.operations)
        self.work_items = WorkItems(func, self.graph)
        guards = Guards(self.ex, self.texels.coordinates) if target.lanes else None
        self.conditionals = Conditionals(self, guards)
        self.values: dict[SSAValue, Value] = {}
        self.lane: int | None = None
        self.parameters: list[Array | Texture] = []
        self.bounds: dict[tir.ForOp, Variable] = {}
        self.rows: list[Array] = []
        self._steps: dict[IRBlock, list[tuple[Callable[..., None], Operation]]] = {}
        self._by_type: dict[type[Operation], Callable[..., None]] = {
            tir.ForOp: self._loop,
            scf.IfOp: self.conditionals,
            arith.CmpiOp: self._compare,
            arith.SelectOp: self._select,
            memref.AllocaOp: self._allocate,
            memref.LoadOp: self._load,
            memref.StoreOp: self._store,
            tir.TexelReadOp: self._read_texel,
            tir.TexelWriteOp: self._write_texel,
            tir.LoadQuadOp: self._load_quad,
            tir.DotOp: self._dot,
            tir.BarrierOp: self._barrier,
            affine.ApplyOp: self._apply,
            scf.YieldOp: self._yield,
        }

    def build(self) -> None:
        """Fill `graph` and `parameters`, and the arguments after these: `bounds` and `rows`."""
        for i, param in enumerate(self.func.params):
            hint = param.name_hint or f"arg{i}"
            written = i in self.func.output_indices or param in self.storages.written
            declare = self.texels if tir.is_texture(param.type) else self.memory
            self.parameters.append(declare.parameter(param, hint, written))
        for i in self.func.row_indices:
            row = self.parameters[i]
            assert isinstance(row, Array), "an image is no row"
            row.is_row = True
            self.rows.append(row)
        for source, result in self.func.in_place_pairs:
            self.memory.share(self.func.params[source], self.func.params[result])
        self.texels.check_limits(self.parameters)
        for loop in tir.rolled_loops(self.func):
            hint = f"{loop.var.name_hint or 'i'}_end"
            self.bounds[loop] = Variable(hint, self.graph.root)
        self.execute_all(self.func.body.block)
        self.texels.finish()

    def execute_all(self, block: IRBlock) -> None:
        """Build the operations of a block in order."""
        steps = self._steps.get(block)
        if steps is None:
            # The bodies of unrolled loops are executed many times, so the dispatch is cached.
            steps = self._steps[block] = [(self._method(op), op) for op in block.ops]
        for method, op in steps:
            method(op)

    # Values

    def value(self, ssa: SSAValue) -> Value:
        """Return the linear form of an index, or the node of any other value.

        While lanes are executed separately, it is the form or node of the current lane.
        """
        value = self.values[ssa]
        if self.lane is None:
            return value
        if isinstance(value, Node):
            return self.ex.lane(value, self.lane)
        return self.ex.at_lane(value, self.lane)

    def form(self, ssa: SSAValue) -> Linear:
        """Return the linear form of an SSA value of type index."""
        value = self.value(ssa)
        return self.ex.to_form(value) if isinstance(value, Node) else value

    def node(self, ssa: SSAValue) -> Node:
        """Return an SSA value as an expression."""
        value = self.value(ssa)
        return value if isinstance(value, Node) else self.ex.index(value)

    def set_result(self, op: Operation, value: Value) -> None:
        """Record the value of an operation's only result."""
        (result,) = op.results
        if isinstance(value, Node) and not value.hint and result.name_hint:
            value.hint = result.name_hint
        self.values[result] = value

    # Operations

    def execute(self, op: Operation) -> None:
        """Build one operation."""
        self._method(op)(op)

    def _method(self, op: Operation) -> Callable[..., None]:
        if (method := self._by_type.get(type(op))) is not None:
            return method
        if len(op.results) != 1:
            raise CloptError(
                f"a kernel cannot contain {op.name}: lower it to tir, memref and arith"
            )
        is_index = type(op.results[0].type) is IndexType
        return self._compute_index if is_index else self._compute

    def _allocate(self, op: memref.AllocaOp) -> None:
        self.memory.allocate(op.memref, op.memref.name_hint or "buffer")

    def _barrier(self, _: tir.BarrierOp) -> None:
        self.graph.add(Barrier(self.graph.block, (), self.memory.shared()))

    def _apply(self, op: affine.ApplyOp) -> None:
        operands = [self.form(operand) for operand in op.operands]
        self.set_result(op, self.space.apply(op.map.data, operands))

    def _yield(self, _: scf.YieldOp) -> None:
        """Do nothing: the operation that executes the branch reads the yielded values."""

    def _compute(self, op: Operation) -> None:
        self.set_result(op, self.operations(op, [self.node(operand) for operand in op.operands]))

    def _compute_index(self, op: Operation) -> None:
        self.set_result(op, self.indices(op, [self.form(operand) for operand in op.operands]))

    def _compare(self, op: arith.CmpiOp) -> None:
        lhs, rhs = op.operands
        if type(lhs.type) is IndexType:
            self.set_result(op, self.indices.compare(op, self.form(lhs), self.form(rhs)))
        else:
            self._compute(op)

    def _select(self, op: arith.SelectOp) -> None:
        condition, then, other = op.operands
        if type(then.type) is IndexType:
            self.set_result(op, self.ex.to_form(self._select_index(op)))
            return
        operands = [self.node(operand) for operand in (condition, then, other)]
        if isinstance(then.owner, tir.TexelReadOp):
            operands[0] = self.texels.coordinates.shortened(operands[0])
        self.set_result(op, self.operations(op, operands))

    def _select_index(self, op: arith.SelectOp) -> Node:
        then, other = self.form(op.lhs), self.form(op.rhs)
        is_coordinate = any(isinstance(use.operation, tir.TexelReadOp) for use in op.result.uses)
        if is_coordinate and not any(map(self.space.is_varying, (then, other))):
            hint = op.result.name_hint or "at"
            return self.texels.coordinates.select(self.node(op.cond), then, other, hint)
        return self.operations(op, [self.node(operand) for operand in op.operands])

    # Memory

    def _load(self, op: memref.LoadOp) -> None:
        source, *indices = op.operands
        (result,) = op.results
        forms = [self.form(i) for i in indices]
        if op.attributes and isinstance(ahead := op.attributes.get(tir.AHEAD), IntegerAttr):
            self.memory.fetch(source, forms, ahead.value.data)
        node = self.memory.load(source, forms, result.name_hint or "")
        if node is None:
            self.execute_lanes(op)
        elif type(result.type) is IndexType:
            self.values[result] = self.ex.to_form(node)
        else:
            self.values[result] = node

    def _store(self, op: memref.StoreOp) -> None:
        value, target, *indices = op.operands
        if not self.memory.store(target, [self.form(i) for i in indices], self.node(value)):
            self.execute_lanes(op)

    def _read_texel(self, op: tir.TexelReadOp) -> None:
        node = self.texels.read(op, [self.form(at) for at in op.coords], self.form(op.lane))
        if node is None:
            self.execute_lanes(op)
        else:
            self.values[op.result] = node

    def _load_quad(self, op: tir.LoadQuadOp) -> None:
        node = self.memory.load_quads(op.memref, [self.form(at) for at in op.indices])
        if node is None:
            self.execute_lanes(op)
        else:
            self.values[op.result] = node

    def _dot(self, op: tir.DotOp) -> None:
        operands = [self.node(value) for value in op.operands]
        self.values[op.result] = self.operations.dot(*operands)

    def _write_texel(self, op: tir.TexelWriteOp) -> None:
        coords = [self.form(at) for at in op.coords]
        if not self.texels.write(op, coords, self.form(op.lane), self.node(op.value)):
            self.execute_lanes(op)

    def execute_lanes(self, op: Operation) -> None:
        """Execute an operation once for each lane and combine the results into a vector."""
        assert self.lane is None, f"one lane of {op.name} has a scalar form"
        numbered, self.graph.numbered = self.graph.numbered, True
        results: list[list[Node]] = []
        for lane in range(self.ex.lane_width):
            self.lane = lane
            self.execute(op)
            results.append([self.node(result) for result in op.results])
        self.lane, self.graph.numbered = None, numbered
        for result, lanes in zip(op.results, zip(*results, strict=True), strict=True):
            self.values[result] = self.ex.build(lanes)

    # Control flow

    def _loop(self, loop: tir.ForOp) -> None:
        kind = loop.kind.data
        if kind.is_bound:
            self._bound_loop(loop)
        elif self.lane is None and self.storages.is_vector_loop(loop):
            self.ex.lane_width = loop.size
            self.values[loop.var] = self.space.lane(loop.size)
            self.execute_all(loop.body.block)
            self.ex.lane_width = 1
        elif kind is tir.LoopKind.Rolled:
            self._counted_loop(loop)
        elif loop.size <= 1 or kind in (tir.LoopKind.Unrolled, tir.LoopKind.Vectorized):
            self._expand(loop)
        else:
            self._counted_loop(loop)

    def _expand(self, loop: tir.ForOp) -> None:
        numbered = self.graph.numbered
        self.graph.numbered = numbered or loop.size > 1
        for i in range(loop.size):
            self.values[loop.var] = constant(i)
            self.execute_all(loop.body.block)
        self.graph.numbered = numbered

    def _counted_loop(self, loop: tir.ForOp) -> None:
        written = self.memory.storages_of(self.storages.written_in(loop))
        if has_barrier(loop):
            written |= self.memory.shared()
        # Hoisting out of a loop with a single iteration saves no work and occupies registers.
        body = Block(self.graph.block, is_loop=loop.size > 1)
        variable = Variable(loop.var.name_hint or "i", body)
        self.values[loop.var] = self.space.add(variable, loop.size)
        self._within(body, loop, written)
        bound = self.bounds.get(loop)
        self.graph.add(CountedLoop(self.graph.block, (), written, variable, loop.size, body, bound))

    def _within(self, block: Block, op: tir.ForOp, written: frozenset[Storage]) -> None:
        """Execute a loop's body in `block`; earlier iterations may have changed `written`."""
        outer = self.graph.block
        self.graph.block = block
        self.graph.invalidate(written)
        self.execute_all(op.body.block)
        self.texels.finish()
        self.graph.block = outer

    def _bound_loop(self, loop: tir.ForOp) -> None:
        outer = self.graph.block
        launched = self.work_items.launched(loop)
        variable = self.work_items.variable(loop, launched)
        form = self.space.add(variable, launched)
        if launched == loop.size:
            self.values[loop.var] = form
            self.execute_all(loop.body.block)
            return
        if has_barrier(loop):
            raise CloptError(
                f"kernel {self.func.sym_name.data} has a barrier that only {loop.size} of "
                f"{launched} work-items reach: launch {loop.size} along {loop.kind.data.value}"
            )
        guard = self.ex.compare_index("<", form, constant(loop.size))
        body = Block(outer)
        self.values[loop.var] = self.space.add(variable, loop.size)
        written = self.memory.storages_of(self.storages.written_in(loop))
        self._within(body, loop, frozenset())
        self.graph.add(If(outer, (guard,), written, body, None))
