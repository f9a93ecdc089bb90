"""Attributes of the tir dialect: storage scopes and loop kinds."""

from __future__ import annotations

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


class Scope(StrEnum):
    """Where a buffer lives; the names are OpenCL's address spaces."""

    Global = "global"
    Local = "local"
    Private = "private"
    Constant = "constant"


@irdl_attr_definition
class ScopeAttr(Data[Scope]):
    """The memory space of a memref, `#tir.scope<private>`; no memory space means global."""

    name = "tir.scope"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Scope:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(Scope)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


class LoopKind(StrEnum):
    """How the iterations of a `tir.for` are executed.

    `parallel` says that the iterations are independent; it is emitted as a plain loop. `unrolled`
    and `vectorized` loops are expanded by the emitter. The others bind the variable to an OpenCL
    index.
    """

    Serial = "serial"
    Parallel = "parallel"
    Unrolled = "unrolled"
    Vectorized = "vectorized"
    GlobalX = "global_x"
    GlobalY = "global_y"
    GlobalZ = "global_z"
    GroupX = "group_x"
    GroupY = "group_y"
    GroupZ = "group_z"
    LocalX = "local_x"
    LocalY = "local_y"
    LocalZ = "local_z"

    @property
    def is_bound(self) -> bool:
        """Whether the loop variable is an OpenCL work-item or work-group index."""
        return self in BOUND_AXIS

    @property
    def axis(self) -> int:
        """The NDRange dimension (0, 1 or 2) of a bound kind."""
        return BOUND_AXIS[self]


BOUND_AXIS = {
    kind: "xyz".index(kind.value[-1])
    for kind in LoopKind
    if kind.value.startswith(("global_", "group_", "local_"))
}


@irdl_attr_definition
class LoopKindAttr(Data[LoopKind]):
    """The kind of a `tir.for`, `#tir.loop<unrolled>`."""

    name = "tir.loop"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LoopKind:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(LoopKind)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


class IterKind(StrEnum):
    """A `tir.block` iteration variable selects an output element or walks a reduction."""

    Spatial = "spatial"
    Reduce = "reduce"
