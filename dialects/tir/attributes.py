"""Attributes of the tir dialect: storage scopes and loop kinds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects.builtin import I64, DenseArrayBase, StringAttr, i64
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

AHEAD = "tir.ahead"
"""Attribute of a load on a CPU: the distance in bytes at which to prefetch for later loads."""


class Scope(StrEnum):
    """The memory of a buffer, named after OpenCL's address spaces, or an OpenCL image."""

    Global = "global"
    Local = "local"
    Private = "private"
    Constant = "constant"
    Texture = "texture"


@irdl_attr_definition
class ScopeAttr(ParametrizedAttribute):
    """The memory space of a memref, `#tir.scope<private>`; no memory space means global.

    The last axis of a texture is the texel. Its separators are the axes that divide the others into
    the coordinates of the image, slowest first: `#tir.scope<texture, []>` is an `image1d_buffer`,
    `[3]` an `image2d` with axes 0 to 2 as rows and axes from 3 up to the texel as columns, `[2, 3]`
    an `image2d_array` with axes 0 and 1 as layer. See `tir.texture`.
    """

    name = "tir.scope"

    space: StringAttr
    cuts: DenseArrayBase[I64]

    def __init__(self, scope: Scope, separators: Sequence[int] = ()):
        super().__init__(StringAttr(scope.value), DenseArrayBase.from_list(i64, separators))

    @property
    def scope(self) -> Scope:
        """Return the memory of the buffer."""
        return Scope(self.space.data)

    @property
    def separators(self) -> tuple[int, ...]:
        """Return the first axis of each coordinate of a texture, except the slowest."""
        return tuple(self.cuts.iter_values())

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            scope = parser.parse_str_enum(Scope)
            separators: Sequence[int] = ()
            if scope is Scope.Texture:
                parser.parse_punctuation(",")
                separators = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, parser.parse_integer
                )
        return cls(scope, separators).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.scope.value)
            if self.scope is Scope.Texture:
                printer.print_string(f", {list(self.separators)}")

    def verify(self) -> None:
        if self.scope is not Scope.Texture and self.separators:
            raise VerifyException(
                f"only a texture may have separators, not {self.scope.value} memory"
            )
        if len(self.separators) > 2 or any(a >= b for a, b in pairwise((0, *self.separators))):
            raise VerifyException(
                f"separators must be at most two ascending axes after the first, not "
                f"{list(self.separators)}"
            )


class LoopKind(StrEnum):
    """How the iterations of a `tir.for` are executed.

    The iterations of a `parallel` loop are independent; it is emitted as a plain loop. A `rolled`
    loop is serial with its bound passed as a kernel argument (`tir.rolled_bounds`), so that the
    device compiler cannot unroll it. The emitter expands `unrolled` and `vectorized` loops. The
    other kinds bind the variable to an OpenCL index.
    """

    Serial = "serial"
    Rolled = "rolled"
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
        """Return whether the loop variable is an OpenCL work-item or work-group index."""
        return self in BOUND_AXIS

    @property
    def axis(self) -> int:
        """Return the NDRange dimension (0, 1 or 2) of a bound kind."""
        return BOUND_AXIS[self]


BOUND_AXIS = {
    kind: "xyz".index(kind.value[-1])
    for kind in LoopKind
    if kind.value.startswith(("global_", "group_", "local_"))
}

PLAIN = (LoopKind.Serial, LoopKind.Parallel)
"""The kinds of unscheduled loops."""

GRID = tuple(kind for kind in BOUND_AXIS if not kind.value.startswith("local_"))
"""The kinds that select a work-group, or a work-item in kernels without explicit groups."""

EXPANDED = (LoopKind.Unrolled, LoopKind.Vectorized)
"""The kinds of loops that the emitter expands in text."""


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
    """The role of a `tir.block` iteration variable: it selects an element or walks a reduction."""

    Spatial = "spatial"
    Reduce = "reduce"
