"""The device that a module is compiled for, as the module's attribute `cl.target`."""

from __future__ import annotations

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
from xdsl.utils.exceptions import VerifyException

from .target import Fact, Target, fact_types

ATTRIBUTE_NAME = "cl.target"


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """A target in the IR: `#cl.target<"pocl", {vector_width = 8 : i64}>`.

    Facts that are not written have their defaults.
    """

    name = "cl.target"

    target_name: StringAttr
    facts: DictionaryAttr

    @classmethod
    def from_target(cls, target: Target) -> TargetAttr:
        """The attribute that spells out every fact of `target`."""
        facts = {name: _to_attribute(target.fact(name)) for name in fact_types()}
        return cls(StringAttr(target.name), DictionaryAttr(facts))

    def to_target(self) -> Target:
        """The target as a value."""
        return _target(self)

    def verify(self) -> None:
        try:
            self.to_target()
        except ValueError as error:
            raise VerifyException(str(error)) from error


@lru_cache(maxsize=64)
def _target(attribute: TargetAttr) -> Target:
    """The target of `attribute`, cached since many passes of one compilation ask."""
    facts = {name: _from_attribute(fact) for name, fact in attribute.facts.data.items()}
    return Target.from_facts(attribute.target_name.data, facts)


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
    """The target `module` is compiled for; the generic CPU when none was set."""
    attribute = module.attributes.get(ATTRIBUTE_NAME)
    return attribute.to_target() if isinstance(attribute, TargetAttr) else Target()


def set_target(module: ModuleOp, target: Target) -> None:
    """Record `target` in `module`."""
    module.attributes[ATTRIBUTE_NAME] = TargetAttr.from_target(target)
