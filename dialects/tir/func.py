"""`tir.func`: a kernel, its parameters and its launch."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, SymbolOpInterface

from ..walking import operations_of
from .attributes import LoopKind
from .in_place import in_place_attribute, in_place_pairs
from .isolation import Isolated
from .kernel import (
    verify_launch,
    verify_parameters,
    verify_plan,
    verify_schedule,
    verify_statements,
)
from .ops import ForOp
from .plan import PlanAttr
from .run_condition import RunCondition, run_conditions_of
from .turn import verify_turns


@irdl_op_definition
class FuncOp(IRDLOperation):
    """One OpenCL kernel; its parameters are memrefs in the global or constant scope.

    `outputs` lists the parameters that the kernel writes, `constants` the parameters that every
    launch binds to a constant, `rows` the parameters that may be rows of a buffer (`cl.row`): the
    index of a row's first element is one more argument. `runs_if = [array<i64: 2, 1>]` lists
    conditions, inputs of one element: work-items return at once unless parameter 2 is true.
    `comment` is printed above the kernel and names the nodes that it computes.

    `in_place = [array<i64: 0, 3>]` lists pairs of an input and an output, both buffers, that a
    launch may bind to the same bytes: each element of the output is written only by the work-item
    that reads this element of the input, and only after all its reads.

    A schedule may request another layout of a constant: `layouts` maps the position of its
    parameter to the affine map from the present indices to the indices in the layout, and
    `cl-pack-constants` applies it (`dialects/tir/layouts.py`). `plan` is the rule, with its
    parameters, that schedules the kernel (`tir-choose-plan`, `tir-apply-plan`). An applied plan
    stays in place, and `carried_out` is its digest: it must not be replaced by another plan.
    `schedule` lists steps for `tir-apply-schedule` that replace the steps of a rule. `part_of`
    names the kernel that `tir-split-kernels` divided into this one and others. `roles` states what
    the stages of a naive kernel mean to the lowering that made it: it maps a role, such as
    `attention.scores`, to the label of a block. `global_size` and
    `local_size` are the NDRange, known once every bound loop is final (`tir-lower-blocks`); a
    `local_size` alone requests a work-group of that size.
    """

    name = "tir.func"
    sym_name = prop_def(SymbolNameConstraint())
    outputs = prop_def(DenseArrayBase[I64])
    constants = opt_prop_def(DenseArrayBase[I64])
    rows = opt_prop_def(DenseArrayBase[I64])
    runs_if = opt_prop_def(ArrayAttr)
    layouts = opt_prop_def(DictionaryAttr)
    schedule = opt_prop_def(ArrayAttr[StringAttr])
    plan = opt_prop_def(PlanAttr)
    carried_out = opt_prop_def(StringAttr)
    part_of = opt_prop_def(StringAttr)
    roles = opt_prop_def(DictionaryAttr)
    comment = opt_prop_def(StringAttr)
    in_place = opt_prop_def(ArrayAttr)
    global_size = opt_prop_def(DenseArrayBase[I64])
    local_size = opt_prop_def(DenseArrayBase[I64])
    body = region_def("single_block")
    traits = traits_def(Isolated(), NoTerminator(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        body: Region,
        outputs: Sequence[int],
        *,
        constants: Sequence[int] | None = None,
        comment: str | None = None,
        global_size: Sequence[int] | None = None,
        local_size: Sequence[int] | None = None,
        in_place: Sequence[tuple[int, int]] = (),
    ):
        def ints(values: Sequence[int] | None) -> DenseArrayBase[I64] | None:
            return None if values is None else DenseArrayBase.from_list(i64, values)

        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "outputs": ints(outputs),
                "constants": ints(constants),
                "comment": None if comment is None else StringAttr(comment),
                "global_size": ints(global_size),
                "local_size": ints(local_size),
                "in_place": in_place_attribute(in_place),
            },
            regions=[body],
        )

    @property
    def params(self) -> tuple[SSAValue, ...]:
        """Return the kernel's parameters, in the order of its arguments."""
        return tuple(self.body.block.args)

    @property
    def output_indices(self) -> tuple[int, ...]:
        """Return the positions of the parameters that the kernel writes."""
        return tuple(self.outputs.iter_values())

    @property
    def constant_indices(self) -> tuple[int, ...]:
        """Return the positions of the parameters that are constants at every launch."""
        array = self.constants
        return () if array is None else tuple(array.iter_values())

    @property
    def row_indices(self) -> tuple[int, ...]:
        """Return the positions of the parameters that may be rows of a buffer."""
        return () if self.rows is None else tuple(self.rows.iter_values())

    @property
    def run_conditions(self) -> tuple[RunCondition, ...]:
        """Return the parameters on which the kernel runs, with the wanted values."""
        return run_conditions_of(self.runs_if)

    @property
    def in_place_pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the positions of inputs and outputs that may be the same bytes."""
        return in_place_pairs(self.in_place)

    def verify_(self) -> None:
        verify_parameters(self)
        verify_schedule(step.data for step in self.schedule or ())
        verify_plan(self)
        verify_launch(self)
        verify_statements(self)
        verify_turns(self)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name()
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        attrs = parser.parse_optional_attr_dict_with_keyword(("sym_name",))
        region = parser.parse_region(args)
        given = dict(attrs.data) if attrs else {}
        known = cls.get_irdl_definition().properties
        properties = {key: given.pop(key) for key in list(given) if key in known}
        return cls.create(
            properties={"sym_name": name, **properties}, attributes=given, regions=[region]
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        attrs = {k: v for k, v in self.properties.items() if k != "sym_name"}
        printer.print_string(" attributes ")
        printer.print_attr_dict(attrs | self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def is_row(value: SSAValue) -> bool:
    """Return whether a value is a parameter that may be a row of a buffer, aligned to elements."""
    func = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    return (
        isinstance(func, FuncOp)
        and value in func.params
        and (func.params.index(value) in func.row_indices)
    )


def rolled_loops(func: FuncOp) -> list[ForOp]:
    """Return the `rolled` loops, in the order of the text."""
    loops = operations_of(ForOp, func.body)
    return [loop for loop in loops if loop.kind.data is LoopKind.Rolled]


def rolled_bounds(func: FuncOp) -> tuple[int, ...]:
    """Return the bounds of the `rolled` loops, in the order of the text.

    They are arguments of the kernel: 32-bit integers after its buffers, the same at every launch.
    """
    return tuple(loop.size for loop in rolled_loops(func))
