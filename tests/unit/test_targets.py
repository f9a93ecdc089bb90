"""Device facts: every file loads, and a module carries them unchanged."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt import CloptError
from clopt.backends.targets import load_target, target_names
from clopt.context import CloptContext
from clopt.dialects.cl import Target, set_target, target_of


@pytest.mark.parametrize("name", target_names())
def test_a_module_carries_its_target(name: str) -> None:
    target = load_target(name)
    assert target.name == name
    module = ModuleOp([])
    set_target(module, target)
    again = Parser(CloptContext(), str(module)).parse_module()
    assert target_of(again) == target


def test_without_a_target_the_generic_cpu() -> None:
    assert target_of(ModuleOp([])) == Target()
    assert Target() == load_target("generic")


def test_unknown_target() -> None:
    with pytest.raises(CloptError, match='There is no target "mali"; use one of adreno-6xx, '):
        load_target("mali")


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"lanes": 4}, '"lanes" is no fact of a target'),
        ({"vector_width": "8"}, "vector_width is of type int, not '8'"),
        ({"vector_width": True}, "vector_width is of type int, not True"),
        ({"vector_width": 0}, "vector_width is at least 1, not 0"),
        ({"register_cols": 0}, "register_cols is at least 1, not 0"),
        ({"device_type": "dsp"}, 'device_type is "cpu" or "gpu", not "dsp"'),
    ],
)
def test_wrong_facts(facts: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Target.from_facts("mine", facts)
