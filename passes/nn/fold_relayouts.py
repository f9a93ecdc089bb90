"""Folding of layout transforms into kernels, so that few transforms remain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...decisions import deciding
from ...dialects import cl, nn
from ...dialects.nn import LayoutAttr
from ...dialects.remarks import add_remarks
from .layout.apply import Transforms, place_constants, retype, spare_images
from .layout.candidates import is_texture
from .layout.cost import LayoutCostModel
from .layout.explain import explain_transforms
from .layout.kernels import work_of_region
from .roles import starts_kernel


@dataclass(frozen=True)
class NNFoldRelayoutsPass(ModulePass):
    """Fold layout transforms into each other and into the kernels around them.

    Two consecutive transforms become one. A kernel writes the layout that its readers need; one
    without stages can write several. A kernel reads a value in its own layout if that costs no more
    than the transform. The same rules apply to images and buffers.
    """

    name: ClassVar[str] = "nn-fold-relayouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        for function in nn.networks_of(op):
            folding = _Folding(function.body.block, LayoutCostModel(target))
            add_remarks(op, folding.run())
        with deciding(op, ctx) as choices:
            if choices is not None and target.lanes:
                explain_transforms(op, choices)


@dataclass
class _Folding:
    """The transforms of one function."""

    block: Block
    model: LayoutCostModel
    changed: dict[nn.FusedOp, None] = field(default_factory=dict[nn.FusedOp, None])
    """Regions with new layouts, whose constants may need other layouts, too."""

    def run(self) -> list[str]:
        """Fold the transforms of the function; return remarks on constants."""
        if not self._transforms():
            return []
        self._share()
        for op in reversed(list(self.block.ops)):
            if isinstance(op, nn.FusedOp):
                self._choose_written_layouts(op)
        for op in self._transforms():
            self._fold_into_readers(op)
        self._share()
        changed = [op for op in self.block.ops if op in self.changed and isinstance(op, nn.FusedOp)]
        remarks = place_constants(changed, self.model.target)
        remarks += [text for op in changed if (text := spare_images(op, self.model.target))]
        self._remove_unused()
        return remarks

    def _transforms(self) -> list[nn.RelayoutOp]:
        """Return the transforms of computed values, in program order."""
        return [
            op
            for op in self.block.ops
            if isinstance(op, nn.RelayoutOp) and not isinstance(op.x.owner, nn.ConstantOp)
        ]

    def _share(self) -> None:
        """Let each transform read its chain's source; remove no-ops and duplicates."""
        first: dict[tuple[SSAValue, LayoutAttr | None], SSAValue] = {}
        for op in list(self.block.ops):
            if not isinstance(op, nn.RelayoutOp):
                continue
            source, layout = nn.source_of(op.x), nn.layout_of(op.result)
            op.operands[0] = source
            if layout == nn.layout_of(source):
                op.result.replace_all_uses_with(source)
            else:
                op.result.replace_all_uses_with(first.setdefault((source, layout), op.result))
        self._remove_unused()

    def _remove_unused(self) -> None:
        for op in reversed(list(self.block.ops)):
            if isinstance(op, nn.RelayoutOp) and not op.result.uses:
                op.detach()
                op.erase()

    def _choose_written_layouts(self, fused: nn.FusedOp) -> None:
        """Let a kernel write the layout that costs least, including the remaining transforms."""
        for index, value in enumerate(fused.outputs):
            now = nn.layout_of(value)
            wanted = _wanted(value)
            if all(layout == now for layout in wanted):
                continue
            costs = {
                layout: self._writing(fused, index, layout)
                + sum(self.model.transform(nn.tensor_type(value), layout, w) for w in wanted)
                for layout in dict.fromkeys([now, *wanted])
            }
            best = min(costs, key=costs.__getitem__)
            if best != now:
                value = self._retype(fused, value, best)
            self._write_also(fused, index, value)

    def _writing(self, fused: nn.FusedOp, index: int, layout: LayoutAttr | None) -> float:
        """Return the part of a kernel's cost that depends on the layout of one of its results."""
        work = work_of_region(fused, index)
        reads = sum(
            self.model.read(work, arg, nn.layout_of(value), layout)
            for arg, value in zip(work.inputs, fused.inputs, strict=True)
        )
        return reads + self.model.write(nn.tensor_type(work.result), layout)

    def _retype(self, fused: nn.FusedOp, value: SSAValue, layout: LayoutAttr | None) -> SSAValue:
        """Change the layout of a result, with a transform for readers of the old one."""
        before = nn.layout_of(value)
        readers = _readers(value)
        self.changed[fused] = None
        new = retype(value, layout)
        for op in [use.operation for use in new.uses]:
            if isinstance(op, nn.RelayoutOp) and nn.layout_of(op.result) == layout:
                op.result.replace_all_uses_with(new)
        if readers:
            transforms = Transforms()
            for op, index in readers:
                op.operands[index] = transforms.get(new, before, op)
        self._remove_unused()
        return new

    def _write_also(self, fused: nn.FusedOp, index: int, value: SSAValue) -> None:
        """Let a kernel without stages also write the other layouts, which saves a launch each."""
        if any(starts_kernel(op) for op in fused.body.block.ops):
            return
        for op in [use.operation for use in value.uses]:
            if not isinstance(op, nn.RelayoutOp):
                continue
            layout = nn.layout_of(op.result)
            type_ = nn.tensor_type(value)
            again = self._writing(fused, index, layout)
            if again <= self.model.transform(type_, nn.layout_of(value), layout):
                self.changed.pop(fused, None)
                fused = _with_result(fused, index, layout)
                self.changed[fused] = None
                value = fused.outputs[index]
                op.result.replace_all_uses_with(fused.outputs[-1])
        self._remove_unused()

    def _fold_into_readers(self, op: nn.RelayoutOp) -> None:
        """Let the kernels after a transform read its source, if that costs no more than it."""
        uses = [(use.operation, use.index) for use in op.result.uses]
        source, layout = nn.layout_of(op.x), nn.layout_of(op.result)
        if (
            self.model.target.policy.texture == "prefer"
            and is_texture(layout)
            and not is_texture(source)
        ):
            return
        extra = 0.0
        for user, index in uses:
            if not isinstance(user, nn.FusedOp):
                return
            work = work_of_region(user)
            arg, result = work.inputs[index], nn.layout_of(user.outputs[0])
            extra += self.model.read(work, arg, source, result)
            extra -= self.model.read(work, arg, layout, result)
        if extra > self.model.transform(nn.tensor_type(op.x), source, layout):
            return
        for user, index in uses:
            user.operands[index] = op.x
            if isinstance(user, nn.FusedOp):
                self.changed[user] = None
        op.detach()
        op.erase()


def _wanted(value: SSAValue) -> list[LayoutAttr | None]:
    """Return the distinct layouts in which a value is read."""
    layouts: dict[LayoutAttr | None, None] = {}
    for use in value.uses:
        op = use.operation
        relayout = isinstance(op, nn.RelayoutOp)
        layouts[nn.layout_of(op.result) if relayout else nn.layout_of(value)] = None
    return list(layouts)


def _readers(value: SSAValue) -> list[tuple[Operation, int]]:
    """Return the operations that read a value without a transform, in program order."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    assert block is not None
    users = {use.operation for use in value.uses}
    return [
        (op, index)
        for op in block.ops
        if op in users and not isinstance(op, nn.RelayoutOp)
        for index, operand in enumerate(op.operands)
        if operand is value
    ]


def _with_result(fused: nn.FusedOp, index: int, layout: LayoutAttr | None) -> nn.FusedOp:
    """Return the region with one of its results repeated in another layout."""
    last = fused.body.block.last_op
    assert isinstance(last, nn.YieldOp)
    layouts = [nn.layout_of(value) for value in fused.outputs]
    last.operands = [*last.values, last.values[index]]
    new = nn.FusedOp(list(fused.inputs), fused.detach_region(0), [*layouts, layout])
    new.location = fused.location
    Rewriter.insert_op(new, InsertPoint.before(fused))
    for old, value in zip(fused.outputs, new.outputs, strict=False):
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    new.outputs[-1].name_hint = new.outputs[index].name_hint
    fused.detach()
    fused.erase()
    return new
