"""Users choose a target in one string in Python, and in several words on command lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clopt import CloptError
from clopt.dialects.cl import Target
from clopt.targets import TargetChoice, load_target
from clopt.tools.console import gather_target

ADRENO = load_target("adreno-740")


@pytest.mark.parametrize(
    "text",
    [
        "adreno-740 texture=off image_cost=2 fp16=false registers=64",
        "adreno-740,texture=off,image_cost=2.0,fp16=false,registers=64",
        "  adreno-740, texture=off  image_cost=2 ,fp16=false registers=64 ",
    ],
)
def test_a_name_and_facts_of_each_type(text: str) -> None:
    target = TargetChoice.parse(text).load()
    facts = {"texture": "off", "image_cost": 2.0, "fp16": False, "registers": 64}
    assert target == ADRENO.with_facts(facts)
    assert target != ADRENO


def test_a_name_alone() -> None:
    assert TargetChoice.parse("adreno-740").load() == ADRENO


@pytest.mark.parametrize("name", ["mine.toml", "two words.toml", "a,b=c.toml", "x.tomls/y.toml"])
@pytest.mark.parametrize("facts", [" fp16=true texture=off", ", fp16=true,texture=off,"])
def test_a_file_and_facts(name: str, facts: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text('base = "pocl"\n[machine]\nvector_width = 16\n')
    own = replace(load_target("pocl"), name=file.stem).with_facts({"vector_width": 16})
    assert TargetChoice.parse(str(file)).load() == own
    assert TargetChoice.parse(f"{file}{facts}").load() == own.with_facts(
        {"fp16": True, "texture": "off"}
    )


def test_facts_alone_change_the_target_at_hand() -> None:
    choice = TargetChoice.parse("texture=prefer")
    assert choice.load() is None
    assert choice.change(Target.from_facts("mine", {"images": True})) == Target.from_facts(
        "mine", {"images": True, "texture": "prefer"}
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pokl", 'There is no target "pokl"; did you mean pocl?'),
        (
            "Snapdragon-8-gen2",
            'There is no target "Snapdragon-8-gen2"; did you mean snapdragon-8-gen-2?',
        ),
        ("phone", 'There is no target "phone"; use one of '),
        ("", 'There is no target ""; use one of '),
        ("pocl intel-cpu", '"pocl intel-cpu" is not a target: write one name, '),
        ("texture=off pocl", '"texture=off pocl" is not a target: write one name, '),
        ("pocl textures=off", '"textures" is not a fact of a target; did you mean texture?'),
        ("pocl texture=yes", 'texture must be "off" or "auto" or "prefer", not "yes"'),
        ("pocl vector_width=8.5", "vector_width must be a whole number, not '8.5'"),
        ("pocl vector_width=0", "vector_width must be at least 1, not 0"),
        ("pocl image_cost=low", "image_cost must be a number, not 'low'"),
        ("pocl image_cost=nan", "image_cost must be a positive number, not nan"),
        ("pocl fp16=1", "fp16 must be true or false, not '1'"),
        ("generic texture=prefer", "texture=prefer needs a device with images, and generic has no"),
        ("pocl name=x", '"name" is not a fact of a target'),
        ("no/such.toml", "no/such.toml: cannot read this target: No such file or directory."),
        ("no/such.toml pocl", '"no/such.toml pocl" is not a target: write one name, '),
    ],
)
def test_mistakes_are_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(CloptError) as error:
        TargetChoice.parse(text).load()
    message = str(error.value)
    assert message.startswith(sentence)
    assert message.endswith((".", "?"))
    assert not message.endswith("?.")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("words", "gathered"),
    [
        ("--target pocl m.onnx", "--target|pocl|m.onnx"),
        ("--target pocl texture=off m.onnx", "--target|pocl texture=off|m.onnx"),
        (
            "--target=pocl texture=off fp16=true m.onnx",
            "--target=pocl texture=off fp16=true|m.onnx",
        ),
        ("m.onnx --target texture=off", "m.onnx|--target|texture=off"),
        ("--target a=1 b=2 --dim n=1", "--target|a=1 b=2|--dim|n=1"),
        ("--dim n=1 --target pocl", "--dim|n=1|--target|pocl"),
        ("--input x=x.npy m.onnx", "--input|x=x.npy|m.onnx"),
        ("--target pocl ./a=b.onnx", "--target|pocl|./a=b.onnx"),
        ("m.onnx --target", "m.onnx|--target"),
        ("", ""),
    ],
)
def test_facts_after_a_target_belong_to_it(words: str, gathered: str) -> None:
    assert "|".join(gather_target(words.split())) == gathered
