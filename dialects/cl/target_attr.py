"""The device that a module is compiled for, as the module's attribute `cl.target`."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from xdsl.dialects.builtin import (
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...machine.facts import Fact
from ...machine.files import named_target
from ...machine.target import Target, part_facts

ATTRIBUTE_NAME = "cl.target"


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """A target in the IR: `#cl.target<"pocl", {vector_width = 4 : i64}>`, or `#cl.target<"pocl">`.

    Facts left out of the text come from the target of that name (`clopt --target pocl`), or from
    the generic CPU if there is no such target. A parsed attribute contains all facts.
    """

    name = "cl.target"

    target_name: StringAttr
    facts: DictionaryAttr

    @classmethod
    def from_target(cls, target: Target) -> TargetAttr:
        """Return the attribute that spells out every fact of `target`."""
        return _attribute(target, tuple(map(type, target.facts.values())))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            name = StringAttr(parser.parse_str_literal())
            facts = parser.parse_attribute() if parser.parse_optional_punctuation(",") else None
        if facts is None:
            facts = DictionaryAttr({})
        if not isinstance(facts, DictionaryAttr):
            parser.raise_error("the facts of a target are a dictionary")
        try:
            known = {key: _from_attribute(fact) for key, fact in facts.data.items()}
            whole = cls.from_target(_changed(named_target(name.data), known))
        except ValueError:
            return name, facts  # for `verify`
        return whole.parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.target_name)
            if self.facts.data:
                printer.print_string(", ")
                printer.print_attribute(self.facts)

    def abbreviated(self) -> TargetAttr:
        """Return the attribute without the facts that its text may leave out."""
        usual = TargetAttr.from_target(named_target(self.target_name.data)).facts.data
        facts = {key: fact for key, fact in self.facts.data.items() if usual.get(key) != fact}
        return TargetAttr(self.target_name, DictionaryAttr(facts))

    def to_target(self) -> Target:
        """Return the target as a value."""
        return _target(self)

    def verify(self) -> None:
        try:
            self.to_target()
        except ValueError as error:
            raise VerifyException(str(error)) from error


@lru_cache(maxsize=64)
def _attribute(target: Target, types: tuple[type, ...]) -> TargetAttr:
    """Return the attribute of `target`, cached since it takes as long as a pass over a kernel.

    Facts of equal targets can differ in their `types`, as 1 and True do.
    """
    facts = {name: _to_attribute(value) for name, value in target.facts.items()}
    return TargetAttr(StringAttr(target.name), DictionaryAttr(facts))


@lru_cache(maxsize=64)
def _target(attribute: TargetAttr) -> Target:
    """Return the target of `attribute`, cached since many passes of one compilation ask."""
    facts = {name: _from_attribute(fact) for name, fact in attribute.facts.data.items()}
    return _changed(Target(attribute.target_name.data), facts)


def _changed(target: Target, facts: Mapping[str, Fact]) -> Target:
    """Return `target` with other facts. Those that it does not know are of accelerators.

    Their tables check them (`AcceleratorFacts.of`); a dialect does not know which there are.
    """
    own = {name: value for name, value in facts.items() if name in part_facts()}
    others = {name: value for name, value in facts.items() if name not in own}
    merged = sorted((dict(target.accelerators) | others).items())
    return replace(target.with_facts(own), accelerators=tuple(merged))


def _to_attribute(value: Fact) -> Attribute:
    match value:
        case str():
            return StringAttr(value)
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)


def _from_attribute(attribute: Attribute) -> Fact:
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr():
            value = attribute.value.data
            return bool(value) if attribute.type == i1 else value
        case FloatAttr():
            return attribute.value.data
        case _:
            raise ValueError(f"a fact is a string, a number or a boolean, not {attribute}")


def target_of(module: ModuleOp) -> Target:
    """Return the target `module` is compiled for; the generic CPU when none was set."""
    attribute = module.attributes.get(ATTRIBUTE_NAME)
    return attribute.to_target() if isinstance(attribute, TargetAttr) else Target()


def set_target(module: ModuleOp, target: Target) -> None:
    """Record `target` in `module`."""
    module.attributes[ATTRIBUTE_NAME] = TargetAttr.from_target(target)


@contextmanager
def abbreviated_target(module: ModuleOp) -> Generator[None]:
    """Let the body print `module`, and modules in it, without the usual facts of their targets.

    The facts of a name change with clopt, so files that outlive a version spell out all.
    """
    modules = [module, *(op for op in module.body.ops if isinstance(op, ModuleOp))]
    whole = [(each, each.attributes.get(ATTRIBUTE_NAME)) for each in modules]
    for each, attribute in whole:
        if isinstance(attribute, TargetAttr):
            each.attributes[ATTRIBUTE_NAME] = attribute.abbreviated()
    try:
        yield
    finally:
        for each, attribute in whole:
            if attribute is not None:
                each.attributes[ATTRIBUTE_NAME] = attribute
