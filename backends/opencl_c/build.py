"""Executes a lowered kernel symbolically: every operation becomes nodes and statements of a
`Graph`.

Loop variables of `unrolled` loops are constants while their body is executed, once per iteration.
In a vectorized loop the body is executed once: values that differ between lanes are vectors. An
operation that has no vector form is executed once per lane, with the lanes of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block as IRBlock
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.cl.target import Target
from ...dialects.tir.affine import Linear
from ...errors import CloptError
from .builtins import Sign
from .expressions import Expressions
from .guards import Guards
from .index import IndexSpace, constant
from .index_operations import IndexOperations
from .memory import Memory
from .operations import Operations
from .storage import Storages, has_barrier, needs_long
from .texels import Texels
from .types import INT, LONG
from .values import (
    Array,
    Assign,
    Barrier,
    Block,
    Declare,
    Graph,
    If,
    Loop,
    Node,
    Register,
    Statement,
    Storage,
    Texture,
    Variable,
)
from .work_items import WorkItems

Value = Node | Linear

_TERNARY_NODES = 6
"""A conditional with more expressions than this is a statement."""


class Builder:
    """Builds the graph of one kernel."""

    def __init__(self, func: tir.FuncOp, target: Target):
        self.func = func
        self.graph = Graph()
        self.space = IndexSpace()
        self.index_type = LONG if needs_long(func) else INT
        self.ex = Expressions(self.graph, self.space, self.index_type)
        self.storages = Storages(func)
        self.memory = Memory(self.ex, self.storages, target)
        self.texels = Texels(func, self.ex, self.memory, target)
        self.guards = Guards(self.ex, self.texels.coordinates) if target.lanes else None
        self.operations = Operations(self.ex, target)
        self.indices = IndexOperations(self.ex, self.operations)
        self.work_items = WorkItems(func, self.graph)
        self.values: dict[SSAValue, Value] = {}
        self.lane: int | None = None
        self.parameters: list[Array | Texture] = []
        self.bounds: dict[tir.ForOp, Variable] = {}
        self._steps: dict[IRBlock, list[tuple[Callable[..., None], Operation]]] = {}
        self._by_type: dict[type[Operation], Callable[..., None]] = {
            tir.ForOp: self._loop,
            scf.IfOp: self._if,
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
        """Fill `graph`, `parameters` and `bounds`, which are the parameters after those."""
        for i, param in enumerate(self.func.params):
            hint = param.name_hint or f"arg{i}"
            written = i in self.func.output_indices or param in self.storages.written
            declare = self.texels if tir.is_texture(param.type) else self.memory
            self.parameters.append(declare.parameter(param, hint, written))
        for source, result in self.func.in_place_pairs:
            self.memory.share(self.func.params[source], self.func.params[result])
        self.texels.check_limits(self.parameters)
        for loop in tir.rolled_loops(self.func):
            hint = f"{loop.var.name_hint or 'i'}_end"
            self.bounds[loop] = Variable(hint, self.graph.root)
        self._execute_all(self.func.body.block)
        self.texels.finish()

    def _execute_all(self, block: IRBlock) -> None:
        steps = self._steps.get(block)
        if steps is None:
            # Bodies of unrolled loops are executed many times.
            steps = self._steps[block] = [(self._method(op), op) for op in block.ops]
        for method, op in steps:
            method(op)

    # Values

    def value(self, ssa: SSAValue) -> Value:
        """The form of an index, else the node of a value; of one lane while lanes are executed
        separately.
        """
        value = self.values[ssa]
        if self.lane is None:
            return value
        if isinstance(value, Node):
            return self.ex.lane(value, self.lane)
        return self.ex.at_lane(value, self.lane)

    def form(self, ssa: SSAValue) -> Linear:
        """An SSA value of type index as a form."""
        value = self.value(ssa)
        return self.ex.to_form(value) if isinstance(value, Node) else value

    def node(self, ssa: SSAValue) -> Node:
        """An SSA value as an expression."""
        value = self.value(ssa)
        return value if isinstance(value, Node) else self.ex.index(value)

    def _set(self, op: Operation, value: Value) -> None:
        (result,) = op.results
        if isinstance(value, Node) and not value.hint and result.name_hint:
            value.hint = result.name_hint
        self.values[result] = value

    # Operations

    def execute(self, op: Operation) -> None:
        """Build one operation."""
        self._method(op)(op)

    def _method(self, op: Operation) -> Callable[..., None]:
        if (known := self._by_type.get(type(op))) is not None:
            return known
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
        self._set(op, self.space.apply(op.map.data, operands))

    def _yield(self, _: scf.YieldOp) -> None:
        """Whoever executes the branch takes the values."""

    def _compute(self, op: Operation) -> None:
        self._set(op, self.operations(op, [self.node(operand) for operand in op.operands]))

    def _compute_index(self, op: Operation) -> None:
        self._set(op, self.indices(op, [self.form(operand) for operand in op.operands]))

    def _compare(self, op: arith.CmpiOp) -> None:
        lhs, rhs = op.operands
        if type(lhs.type) is IndexType:
            self._set(op, self.indices.compare(op, self.form(lhs), self.form(rhs)))
        else:
            self._compute(op)

    def _select(self, op: arith.SelectOp) -> None:
        condition, then, other = op.operands
        if type(then.type) is IndexType:
            self._set(op, self.ex.to_form(self._select_index(op)))
            return
        operands = [self.node(operand) for operand in (condition, then, other)]
        if isinstance(then.owner, tir.TexelReadOp):
            operands[0] = self.texels.coordinates.shortened(operands[0])
        self._set(op, self.operations(op, operands))

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
            self._execute_lanes(op)
        elif type(result.type) is IndexType:
            self.values[result] = self.ex.to_form(node)
        else:
            self.values[result] = node

    def _store(self, op: memref.StoreOp) -> None:
        value, target, *indices = op.operands
        if not self.memory.store(target, [self.form(i) for i in indices], self.node(value)):
            self._execute_lanes(op)

    def _read_texel(self, op: tir.TexelReadOp) -> None:
        node = self.texels.read(op, [self.form(at) for at in op.coords], self.form(op.lane))
        if node is None:
            self._execute_lanes(op)
        else:
            self.values[op.result] = node

    def _load_quad(self, op: tir.LoadQuadOp) -> None:
        node = self.memory.load_quads(op.memref, [self.form(at) for at in op.indices])
        if node is None:
            self._execute_lanes(op)
        else:
            self.values[op.result] = node

    def _dot(self, op: tir.DotOp) -> None:
        operands = [self.node(value) for value in op.operands]
        self.values[op.result] = self.operations.dot(*operands)

    def _write_texel(self, op: tir.TexelWriteOp) -> None:
        coords = [self.form(at) for at in op.coords]
        if not self.texels.write(op, coords, self.form(op.lane), self.node(op.value)):
            self._execute_lanes(op)

    def _execute_lanes(self, op: Operation) -> None:
        """Execute an operation once for each lane, and combine the results to a vector."""
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
            self._execute_all(loop.body.block)
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
            self._execute_all(loop.body.block)
        self.graph.numbered = numbered

    def _counted_loop(self, loop: tir.ForOp) -> None:
        written = self.memory.storages_of(self.storages.written_in(loop))
        if has_barrier(loop):
            written |= self.memory.shared()
        # What runs once gains nothing from being computed before the loop, but takes registers.
        body = Block(self.graph.block, is_loop=loop.size > 1)
        variable = Variable(loop.var.name_hint or "i", body)
        self.values[loop.var] = self.space.add(variable, loop.size)
        self._within(body, loop, written)
        bound = self.bounds.get(loop)
        self.graph.add(Loop(self.graph.block, (), written, variable, loop.size, body, bound))

    def _within(self, block: Block, op: tir.ForOp, written: frozenset[Storage]) -> None:
        """Execute a loop's body in a block; other iterations may have changed `written` before."""
        outer = self.graph.block
        self.graph.block = block
        self.graph.invalidate(written)
        self._execute_all(op.body.block)
        self.texels.finish()
        self.graph.block = outer

    def _bound_loop(self, loop: tir.ForOp) -> None:
        outer = self.graph.block
        launched = self.work_items.launched(loop)
        variable = self.work_items.variable(loop, launched)
        form = self.space.add(variable, launched)
        if launched == loop.size:
            self.values[loop.var] = form
            self._execute_all(loop.body.block)
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

    def _if(self, op: scf.IfOp) -> None:
        condition = self.node(op.cond)
        if condition.ctype.width > 1:
            self._execute_lanes(op)
            return
        if condition.kind == "constant":
            self._inline_branch(op, 0 if condition.payload else 1)
            return
        then, then_values = self._branch(op, 0)
        other, other_values = self._branch(op, 1)
        if self.guards is not None and len(op.results) == 1:
            chosen = self.guards.load(condition, then, then_values[0], other_values[0])
            if chosen is not None:
                self._set(op, chosen)
                return
        if self._fits_expression(op, (then, other), (then_values, other_values)):
            chosen = self.ex.guarded(condition, then_values[0], other_values[0], (then, other))
            self._set(op, chosen)
            return
        self._if_statement(op, condition, (then, other), (then_values, other_values))

    def _inline_branch(self, op: scf.IfOp, which: int) -> None:
        region = op.regions[which]
        if region.blocks:
            self._execute_all(region.block)
            for result, yielded in zip(op.results, _yielded(op, which), strict=True):
                self.values[result] = self.value(yielded)

    def _branch(self, op: scf.IfOp, which: int) -> tuple[Block, list[Node]]:
        outer = self.graph.block
        block = Block(outer)
        self.graph.block = block
        values: list[Node] = []
        if op.regions[which].blocks:
            self._execute_all(op.regions[which].block)
            yielded = [self.node(value) for value in _yielded(op, which)]
            values = [self.ex.with_sign(value, Sign.SIGNED) for value in yielded]
            self.texels.finish()
        self.graph.block = outer
        return block, values

    def _fits_expression(
        self, op: scf.IfOp, blocks: tuple[Block, Block], values: tuple[list[Node], list[Node]]
    ) -> bool:
        items = [item for block in blocks for item in block.items]
        return (
            len(op.results) == 1
            and values[0][0].ctype == values[1][0].ctype
            and len(items) <= _TERNARY_NODES
            and not any(isinstance(item, Statement) for item in items)
        )

    def _if_statement(
        self,
        op: scf.IfOp,
        condition: Node,
        blocks: tuple[Block, Block],
        values: tuple[list[Node], list[Node]],
    ) -> None:
        outer = self.graph.block
        registers: list[Register] = []
        for result, sides in zip(op.results, zip(*values, strict=True), strict=True):
            ctype = max((side.ctype for side in sides), key=lambda ctype: ctype.width)
            lane = "" if self.lane is None else f"_{self.lane}"
            register = Register((result.name_hint or "chosen") + lane, ctype)
            registers.append(register)
            for block, value in zip(blocks, sides, strict=True):
                self.graph.block = block
                value = self.ex.as_type(value, ctype)
                block.items.append(Assign(block, (value,), frozenset((register,)), register))
        self.graph.block = outer
        if registers:
            self.graph.add(Declare(self.graph.block, (), frozenset(), tuple(registers)))
        written = self.memory.storages_of(self.storages.written_in(op)) | frozenset(registers)
        other_block = blocks[1] if blocks[1].items else None
        self.graph.add(If(self.graph.block, (condition,), written, blocks[0], other_block))
        for result, register in zip(op.results, registers, strict=True):
            self.values[result] = self.graph.read(register)


def _yielded(op: scf.IfOp, which: int) -> Sequence[SSAValue]:
    last = op.regions[which].block.last_op
    return last.operands if isinstance(last, scf.YieldOp) else ()
