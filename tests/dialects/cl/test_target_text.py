"""The text of a target has the facts in which it differs from the one of its name."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.dialects.cl.target_attr import abbreviated_target
from clopt.messages.source import Source, SourceModule
from clopt.targets import load_target, with_facts

TARGETS = {
    "pocl": (load_target("pocl"), '<"pocl">'),
    "facts": (
        with_facts(load_target("adreno-740"), {"texture": "off", "clml": "prefer"}),
        '<"adreno-740", {texture = "off", clml = "prefer"}>',
    ),
    # A fact that a file changes is a difference where the target has the default.
    "default": (
        with_facts(load_target("pocl"), {"max_work_group_size": 1024}),
        '<"pocl", {max_work_group_size = 1024 : i64}>',
    ),
    "user's": (
        cl.Target.from_facts("mine", {"vector_width": 4}),
        '<"mine", {vector_width = 4 : i64}>',
    ),
}


def read(text: str) -> ModuleOp:
    return SourceModule.parse(CloptContext(), Source("text", text)).module


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_text_means_the_whole_target(name: str):
    target, text = TARGETS[name]
    module = ModuleOp([])
    cl.set_target(module, target)
    whole = str(module)
    with abbreviated_target(module):
        short = str(module)
    assert f"#cl.target{text}" in short
    assert str(module) == whole, "the module keeps all facts"
    for each in (short, whole):
        parsed = read(each)
        assert cl.target_of(parsed) == target
        assert str(parsed) == whole


def test_a_text_with_all_facts_does_not_change_with_the_files(monkeypatch: pytest.MonkeyPatch):
    target = load_target("pocl")
    module = ModuleOp([])
    cl.set_target(module, target)
    whole = str(module)
    later = with_facts(target, {"vector_width": 2})
    monkeypatch.setattr("clopt.dialects.cl.target_attr.named_target", lambda _: later)
    assert cl.target_of(read(whole)) == target
    assert cl.target_of(read('builtin.module attributes {t = #cl.target<"pocl">} {}')) != target
