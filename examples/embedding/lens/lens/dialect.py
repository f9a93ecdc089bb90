"""The dialect `lens`: pictures, tensors of rows and columns, and numbers read off them."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerType, Signedness, TensorType, f32
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

ui8 = IntegerType(8, Signedness.UNSIGNED)
FLOATS = TensorType.constr(f32)
PIXELS = TensorType.constr(ui8) | FLOATS


_FORMAT = "operands attr-dict `:` functional-type(operands, results)"


@irdl_op_definition
class LevelsOp(IRDLOperation):
    """Each pixel as a float, times a gain, plus an offset."""

    name = "lens.levels"
    picture = operand_def(PIXELS)
    result = result_def(FLOATS)
    gain = prop_def(FloatAttr)
    offset = prop_def(FloatAttr)
    assembly_format = _FORMAT
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())

    def __init__(self, picture: SSAValue, gain: float, offset: float) -> None:
        properties = {"gain": FloatAttr(gain, f32), "offset": FloatAttr(offset, f32)}
        type_ = TensorType(f32, picture.type.get_shape())
        super().__init__(operands=[picture], properties=properties, result_types=[type_])

    def verify_(self) -> None:
        if self.picture.type.get_shape() != self.result.type.get_shape():
            raise VerifyException("the result has the shape of the picture")


@irdl_op_definition
class CropOp(IRDLOperation):
    """The columns of a picture from the given one on, as many as the result has."""

    name = "lens.crop"
    picture = operand_def(FLOATS)
    column = operand_def(IndexType)
    result = result_def(FLOATS)
    assembly_format = _FORMAT
    traits = traits_def(Pure())


@irdl_op_definition
class MeanOp(IRDLOperation):
    """The mean of all pixels: a number, for which the host waits."""

    name = "lens.mean"
    picture = operand_def(FLOATS)
    result = result_def(f32)
    assembly_format = _FORMAT
    traits = traits_def(Pure())


@irdl_op_definition
class PeakOp(IRDLOperation):
    """The greatest element and its place in row-major order, for which the host waits."""

    name = "lens.peak"
    picture = operand_def(FLOATS)
    value = result_def(f32)
    place = result_def(IndexType)
    assembly_format = _FORMAT
    traits = traits_def(Pure())


LENS = Dialect("lens", [LevelsOp, CropOp, MeanOp, PeakOp])
