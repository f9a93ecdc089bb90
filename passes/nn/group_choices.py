"""Choices of groups: whether an operation joins the kernel of the operation that consumes it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...decisions import Choices, Site, SiteKind
from ...dialects import nn
from ...dialects.properties import text
from ...messages.explanations import Reason, Why
from ..locations import node_name
from .roles import starts_kernel
from .structure import digest, structure_digest

MERGED, APART = "merged", "apart"
_WORDS = (StringAttr(MERGED), StringAttr(APART))

_CARRIED = "nn.groups"
"""The attribute of a consumer that carries choices to the pass that forms its kernel.

It has a word for each operand, which is empty if the choice is the usual one.
"""

_LONGEST = 8
"""Most operations that a digest reads, so that long chains take linear time."""


@dataclass(frozen=True)
class _Decision:
    """A choice between `MERGED` and `APART`."""

    site: Site
    operand: int
    """The position of the consumer's operand that the producer computes."""
    word: str
    is_usual: bool
    nodes: str
    remark: str
    """Why the groups are usually apart, or ""."""


@dataclass(frozen=True)
class GroupChoices:
    """The choices of the groups that one pass forms for values stored in one way.

    Several passes form groups. `nn-choose` forms them for all operations, and leaves those that
    stay between plain values to `nn-fuse`. Each pass notes the groups that it makes regions of.
    """

    choices: Choices
    stored: str
    """How values are stored between the kernels: the name of the policy of fusion."""
    _made: dict[Operation, list[_Decision]] = field(
        default_factory=dict[Operation, list[_Decision]]
    )

    def is_merged(
        self, op: Operation, producer: Operation, views: Sequence[Operation], why: str
    ) -> bool:
        """Return whether the group of `producer` joins that of `op`, which reads it by `views`.

        An earlier pass or the module decides. Otherwise they are apart if there is a reason `why`.
        """
        read = (views[-1] if views else producer).results[0]
        operand = list(op.operands).index(read)
        carried = _carried(op, operand)
        if carried:
            return carried == MERGED
        key = digest((self.stored, structure_digest((), _chain(op, producer, views))))
        site = self.choices.next_site(SiteKind.GROUP, key)
        nodes = f"{node_name(producer)}, {node_name(op)}"
        default = APART if why else MERGED
        word = self.choices.chosen(site, default, (MERGED, APART), nodes)
        made = _Decision(site, operand, word, word == default, nodes, why)
        self._made.setdefault(op, []).append(made)
        return word == MERGED

    def note(self, formed: Container[Operation]) -> None:
        """Note the choices for consumers that become part of a region now, and unusual ones.

        The other consumers carry choices that are not the usual ones to the next pass.
        """
        for op, decisions in self._made.items():
            for each in decisions:
                is_noted = op in formed or not each.is_usual
                if is_noted or self.choices.demands_any(each.site):
                    word, reason = StringAttr(each.word), partial(_reason, each.remark)
                    self.choices.note(each.site, word, each.nodes, reason, possible=_WORDS)
            if op not in formed and not all(each.is_usual for each in decisions):
                words = {each.operand: each.word for each in decisions if not each.is_usual}
                carried = [StringAttr(words.get(i, "")) for i in range(len(op.operands))]
                op.attributes[_CARRIED] = ArrayAttr(carried)


def drop_carried(op: Operation) -> None:
    """Remove the choices that an operation carries, since its kernel is formed."""
    op.attributes.pop(_CARRIED, None)


def _reason(remark: str) -> Reason:
    return Reason(Why.RULE, {MERGED: None, APART: None}, remark)


def _carried(op: Operation, operand: int) -> str | None:
    words = op.attributes.get(_CARRIED)
    if not isinstance(words, ArrayAttr):
        return None
    return text(cast("ArrayAttr[Attribute]", words).data[operand])


def _chain(op: Operation, producer: Operation, views: Sequence[Operation]) -> list[Operation]:
    """Return the operations that lead to `op`, from one that starts a kernel, in program order.

    They do not depend on the choices of other groups.
    """
    ops = [op, *reversed(views), producer]
    while len(ops) < _LONGEST and not starts_kernel(ops[-1]):
        before = next((each for each in map(_computed, ops[-1].operands) if each is not None), None)
        if before is None:
            break
        ops.append(before)
    return ops[::-1]


def _computed(value: SSAValue) -> nn.NNOp | None:
    """Return the operation that computes a value for one operation only, or None."""
    op = value.owner
    if not isinstance(op, nn.NNOp) or isinstance(op, nn.ConstantOp):
        return None
    return op if len({use.operation for use in value.uses}) == 1 else None
