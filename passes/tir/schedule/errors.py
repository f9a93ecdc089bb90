"""The errors of schedule primitives."""

from __future__ import annotations

from xdsl.ir import Operation

from ....dialects.tir import BlockOp, ForOp, FuncOp
from ....errors import CloptError


class ScheduleError(CloptError):
    """A schedule that breaks a rule; names the kernel, the loop or block, and the rule."""


def refuse(op: Operation, rule: str) -> ScheduleError:
    """Return an error for breaking `rule` at `op`."""
    return ScheduleError(f"{describe(op)}: {rule}")


def describe(op: Operation) -> str:
    """Return the location of a loop, block or other operation: `@kernel, loop 'i'`."""
    func: Operation | None = op
    while func is not None and not isinstance(func, FuncOp):
        func = func.parent_op()
    kernel = "" if func is None else f"@{func.sym_name.data}, "
    if op is func:
        return kernel[:-2]
    if isinstance(op, ForOp):
        return f"{kernel}loop '{op.var.name_hint or '?'}'"
    if isinstance(op, BlockOp):
        return f"{kernel}block '{op.label.data}'"
    hint = op.results[0].name_hint if op.results else None
    return f"{kernel}{op.name}" + (f" '{hint}'" if hint else "")
