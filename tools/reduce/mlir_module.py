"""Smaller MLIR modules of any dialect: fewer functions and operations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ...context import CloptContext
from ...errors import CloptError
from ...messages.source import Source, SourceModule
from .search import Judge, least


def reduce_mlir(content: bytes, judge: Judge) -> bytes:
    """Return the smallest interesting module; repeat rounds until none shrinks it.

    A round removes operations with their regions, and replaces each result by an earlier value of
    the same type. An operation without such a value stays.
    """
    module = _parse(content)
    valid = _verifies(module)
    judge(_write(module))  # start from xDSL's text, if it is interesting
    before = -1
    while (size := _size(module)) != before:
        before = size
        left = least(range(size), lambda left: judge(_without(module, left, valid)))
        smaller = _without(module, left, valid)
        if len(left) < size and smaller is not None:
            module = _parse(smaller)
    return judge.best


def describe_mlir(content: bytes) -> str:
    """Return the size of a module in words."""
    count = _size(_parse(content))
    return f"{count} operation{'s' * (count != 1)}"


def _parse(content: bytes) -> ModuleOp:
    context = CloptContext()
    context.allow_unregistered = True
    try:
        return SourceModule.parse(context, Source("the module", content.decode())).module
    except UnicodeDecodeError as error:
        raise CloptError(f"The module cannot be read: {error}.") from error


def _write(module: ModuleOp) -> bytes:
    return (str(module) + "\n").encode()


def _verifies(module: ModuleOp) -> bool:
    try:
        module.verify()
    except VerifyException:
        return False
    return True


def _operations(module: ModuleOp) -> list[Operation]:
    """Return the operations that a round may remove: all but the module itself and terminators."""
    return [
        op
        for op in module.walk()
        if op is not module and not op.has_trait(IsTerminator, value_if_unregistered=False)
    ]


def _size(module: ModuleOp) -> int:
    return len(_operations(module))


def _without(module: ModuleOp, left: Sequence[int], valid: bool) -> bytes | None:
    """Return the module with only the operations `left`, or None if these need others."""
    candidate = module.clone()
    operations = _operations(candidate)
    kept = {operations[i] for i in left}
    for op in reversed(operations):
        if op in kept or op.parent is None:
            continue
        for result in op.results:
            if any(result.uses):
                other = _earlier(op, result)
                if other is None:
                    return None
                result.replace_all_uses_with(other)
        op.detach()
        op.erase()
    if valid and not _verifies(candidate):
        return None
    return _write(candidate)


def _earlier(op: Operation, result: SSAValue) -> SSAValue | None:
    """Return the nearest value before `op` that has the type of `result`."""
    for operand in op.operands:
        if operand.type == result.type:
            return operand
    block: Block | None = op.parent
    before = op.prev_op
    while block is not None:
        while before is not None:
            for value in before.results:
                if value.type == result.type:
                    return value
            before = before.prev_op
        for argument in block.args:
            if argument.type == result.type:
                return argument
        parent = block.parent_op()
        before = None if parent is None else parent.prev_op
        block = None if parent is None else parent.parent
    return None
