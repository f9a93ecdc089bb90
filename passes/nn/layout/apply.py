"""Writes chosen layouts into a function: into result types, and as `nn.relayout` in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects import cl, nn
from ....dialects.nn import LayoutAttr
from ...locations import node_name
from .candidates import Candidate, is_texture, packed_axis
from .constants import ConstantLayouts, lane_of
from .kernels import work_of_region

Layouts = list[LayoutAttr | None]


def retype(value: SSAValue, layout: LayoutAttr | None) -> SSAValue:
    """Give a result another layout."""
    type_ = nn.with_layout(nn.tensor_type(value), layout)
    return value if type_ == value.type else Rewriter.replace_value_with_new_type(value, type_)


@dataclass
class Transforms:
    """The `nn.relayout`s made so far, one for each value and layout."""

    made: dict[tuple[SSAValue, LayoutAttr | None], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, "LayoutAttr | None"], SSAValue]
    )

    def get(self, value: SSAValue, layout: LayoutAttr | None, before: Operation) -> SSAValue:
        """The value in `layout`, for use by `before`.

        A transform stands before its first user, so operations must ask in program order.
        """
        if nn.layout_of(value) == layout:
            return value
        if (value, layout) not in self.made:
            op = nn.RelayoutOp(value, layout)
            owner = value.owner
            op.location = owner.location if isinstance(owner, Operation) else before.location
            op.result.name_hint = value.name_hint
            Rewriter.insert_op(op, InsertPoint.before(before))
            self.made[value, layout] = op.result
        return self.made[value, layout]


def insert_transforms(block: Block, wanted: dict[Operation, Layouts]) -> None:
    """Give every operation its operands in the `wanted` layouts, plain where it names none."""
    transforms = Transforms()
    for op in list(block.ops):
        layouts = wanted.get(op) or [None] * len(op.operands)
        for i, (value, layout) in enumerate(zip(op.operands, layouts, strict=True)):
            op.operands[i] = transforms.get(value, layout, op)


def place_constants(regions: Iterable[nn.FusedOp], target: cl.Target) -> list[str]:
    """Give the constants of regions the layouts that suit the other operands' layouts.

    Returns remarks on constants that could not have the first choice.
    """
    transforms = Transforms()
    remarks: list[str] = []
    # Networks repeat their regions: equal ones share one answer.
    known: dict[object, dict[int, Candidate]] = {}
    for fused in regions:
        constants = [nn.constant_of(value) for value in fused.inputs]
        for i, candidate in _constant_layouts(fused, constants, target, known).items():
            constant = constants[i]
            assert constant is not None
            fused.operands[i] = transforms.get(constant.result, candidate.layout, fused)
            if candidate.remark:
                remarks.append(f"{node_name(fused)}: weights: {candidate.remark}")
    return remarks


def _constant_layouts(
    fused: nn.FusedOp,
    constants: Sequence[nn.ConstantOp | None],
    target: cl.Target,
    known: dict[object, dict[int, Candidate]],
) -> dict[int, Candidate]:
    """The layouts of the constant operands by position; `known` caches them for equal regions."""
    work = work_of_region(fused)
    packed = {
        arg: packed_axis(nn.layout_of(value))
        for arg, value, constant in zip(work.inputs, fused.inputs, constants, strict=True)
        if constant is None
    }
    lane = lane_of(work, nn.layout_of(fused.outputs[0]))
    key = work.key, lane, tuple(packed.values()), tuple(constant is None for constant in constants)
    if key not in known:
        layouts = ConstantLayouts(work, lane, packed, target)
        known[key] = {
            i: layouts.of(arg)
            for i, (arg, constant) in enumerate(zip(work.inputs, constants, strict=True))
            if constant is not None
        }
    return known[key]


def spare_images(fused: nn.FusedOp, target: cl.Target) -> str:
    """Move operands from images to packed buffers until the device's limit on images holds.

    Returns a remark, empty if the kernel is within the limit.
    """
    images = [i for i, value in enumerate(fused.inputs) if is_texture(nn.layout_of(value))]
    most = target.device.max_read_images
    excess = images[most:]
    transforms = Transforms()
    for i in excess:
        value = fused.inputs[i]
        layout, constant = nn.layout_of(value), nn.constant_of(value)
        assert layout is not None
        source = value if constant is None else constant.result
        fused.operands[i] = transforms.get(source, LayoutAttr(layout.blocks), fused)
    if not excess:
        return ""
    return (
        f"{node_name(fused)}: {len(images)} images are more than the {most} that a "
        f"kernel can read: {len(excess)} of them are buffers"
    )
