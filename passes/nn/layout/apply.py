"""Application of chosen layouts to a function: result types, and `nn.relayout` in between."""

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
    """Change the layout of a result; return the new value."""
    type_ = nn.with_layout(nn.tensor_type(value), layout)
    return value if type_ == value.type else Rewriter.replace_value_with_new_type(value, type_)


@dataclass
class Transforms:
    """The `nn.relayout`s inserted so far, one for each value and layout."""

    made: dict[tuple[SSAValue, LayoutAttr | None], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, "LayoutAttr | None"], SSAValue]
    )

    def get(self, value: SSAValue, layout: LayoutAttr | None, before: Operation) -> SSAValue:
        """Return `value` in `layout`, for use by the operation `before`.

        A transform is inserted before its first user, so requests must come in program order.
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
    """Give every operation its operands in the `wanted` layouts; plain if it is not listed."""
    transforms = Transforms()
    for op in list(block.ops):
        layouts = wanted.get(op) or [None] * len(op.operands)
        for i, (value, layout) in enumerate(zip(op.operands, layouts, strict=True)):
            op.operands[i] = transforms.get(value, layout, op)


def place_constants(regions: Iterable[nn.FusedOp], target: cl.Target) -> list[str]:
    """Give the constants of regions the layouts that suit the other operands' layouts.

    Return remarks about constants that could not have their first choice.
    """
    transforms = Transforms()
    remarks: list[str] = []
    # Networks repeat their regions, so the layouts of equal regions are computed once.
    cache: dict[object, dict[int, Candidate]] = {}
    for fused in regions:
        constants = [nn.constant_of(value) for value in fused.inputs]
        for i, candidate in _constant_layouts(fused, constants, target, cache).items():
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
    cache: dict[object, dict[int, Candidate]],
) -> dict[int, Candidate]:
    """Return the layouts of the constant operands by position, cached for equal regions."""
    work = work_of_region(fused)
    packed = {
        arg: packed_axis(nn.layout_of(value))
        for arg, value, constant in zip(work.inputs, fused.inputs, constants, strict=True)
        if constant is None
    }
    lane = lane_of(work, nn.layout_of(fused.outputs[0]))
    key = work.key, lane, tuple(packed.values()), tuple(constant is None for constant in constants)
    if key not in cache:
        layouts = ConstantLayouts(work, lane, packed, target)
        cache[key] = {
            i: layouts.of(arg)
            for i, (arg, constant) in enumerate(zip(work.inputs, constants, strict=True))
            if constant is not None
        }
    return cache[key]


def spare_images(fused: nn.FusedOp, target: cl.Target) -> str:
    """Move operands from images to packed buffers until the device's image limit holds.

    Return a remark, or "" if the kernel is within the limit.
    """
    images = [i for i, value in enumerate(fused.inputs) if is_texture(nn.layout_of(value))]
    most = target.device.max_read_images
    excess = images[most:]
    transforms = Transforms()
    for i in excess:
        value = fused.inputs[i]
        layout = nn.layout_of(value)
        assert layout is not None
        fused.operands[i] = transforms.get(nn.source_of(value), LayoutAttr(layout.blocks), fused)
    if not excess:
        return ""
    return (
        f"{node_name(fused)}: a kernel can read {target.device.max_read_images} images, not "
        f"{len(images)}: {len(excess)} of them are buffers"
    )
