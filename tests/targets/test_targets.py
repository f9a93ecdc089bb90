"""Device facts: every file loads, and a module carries them unchanged."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt import CloptError
from clopt.context import CloptContext
from clopt.dialects.cl import Target, set_target, target_of
from clopt.machine.files import named_target
from clopt.machine.soc_names import SOC_NAMES, TARGET_OF_SOC
from clopt.passes.nn.choose import NNChoosePass
from clopt.targets import TargetChoice, load_target, target_names, with_facts
from clopt.tools import opt


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


def test_the_name_of_an_soc_means_its_gpu() -> None:
    gpu = load_target("adreno-740")
    assert all(load_target(name) == gpu for name in ("snapdragon-8-gen-2", "sm8550", "SM8550"))
    assert TargetChoice.parse("sm8650 texture=off").load() == with_facts(
        load_target("adreno-750"), {"texture": "off"}
    )


def test_socs_belong_to_targets() -> None:
    """Each name belongs to one target, which exists; none hides a target."""
    assert SOC_NAMES.keys() <= {*target_names()}
    assert len(TARGET_OF_SOC) == sum(map(len, SOC_NAMES.values()))
    assert TARGET_OF_SOC.keys().isdisjoint(target_names())


def test_unknown_target() -> None:
    with pytest.raises(CloptError, match='There is no target "mali"; use one of adreno, adreno-6'):
        load_target("mali")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("vector width = 8", "this is not a TOML file: Expected '=' after a key"),
        ("name = '\xff'", "this is not a TOML file: 'utf-8' codec can't decode byte 0xff"),
        ("lanes = 4", '"lanes" is not a fact of a target; docs/targets.md lists the facts.'),
        ("[machine]\nvector_width = 0", "vector_width must be at least 1, not 0."),
        (
            "[machine]\nvector_width = 1073741824",
            "vector_width must be at most 16, not 1073741824.",
        ),
        ("vector_width = 4", r"vector_width belongs below the line \[machine\], as vector_w"),
        ("[device]\nbuiltins = true", r"builtins belongs below the line \[compiler\], as b"),
        ("clml_version = 3", r"clml_version belongs below the line \[clml\], as version."),
        ("x = " + "[" * 5000, "its values are nested too deeply for a target."),
        ("base = 'mine'", "base must be one of adreno, .*, not 'mine'."),
        ("base = ['pocl']", r"base must be one of adreno, .*, not \['pocl'\]."),
    ],
)
def test_a_mistake_in_a_file_names_it(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(CloptError, match=rf"^{re.escape(str(file))}: {sentence}") as error:
        load_target(str(file))
    assert "\n" not in str(error.value)
    assert str(error.value).endswith((".", "?"))
    assert not str(error.value).endswith(("..", "?."))


def test_a_key_of_many_parts_is_refused_at_once(tmp_path: Path) -> None:
    """The memory of tomllib grows with the square of their number."""
    file = tmp_path / "mine.toml"
    file.write_text("launches = 1\n" + ".".join(["a"] * 20000) + " = 1\n")
    with pytest.raises(CloptError, match=r"mine\.toml:2: a line must have at most 100 dots"):
        load_target(str(file))
    file.write_text("# " + "x" * (1 << 18))
    too_large = "cannot read this target: it has 262146 bytes, the limit is 262144"
    with pytest.raises(CloptError, match=too_large):
        load_target(str(file))


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"lanes": 4}, '"lanes" is not a fact of a target'),
        ({"vector_width": "8"}, "vector_width must be a whole number, not '8'"),
        ({"vector_width": True}, "vector_width must be a whole number, not True"),
        ({"vector_width": 0}, "vector_width must be at least 1, not 0"),
        (
            {"preferred_work_group": 1 << 20},
            "preferred_work_group must be at most 4096, not 1048576",
        ),
        ({"register_tile": 0}, "register_tile must be at least 1, not 0"),
        ({"registers": 0}, "registers must be at least 1, not 0"),
        ({"bandwidth": 0}, "bandwidth must be a positive number, not 0.0"),
        ({"result_cost": -1}, "result_cost must be a number from 0, not -1.0"),
        ({"device_type": "dsp"}, 'device_type must be "cpu" or "gpu", not "dsp"'),
        ({"texture": "yes"}, 'texture must be "off" or "auto" or "prefer", not "yes"'),
        ({"image_cost": 0}, "image_cost must be a positive number, not 0.0"),
        ({"image_cost": True}, "image_cost must be a number, not True"),
        ({"clml": "on"}, 'clml must be "off" or "auto" or "prefer", not "on"'),
        ({"clml_bandwidth": 0}, "clml_bandwidth must be a positive number, not 0.0"),
        (
            {"clml_launch_microseconds": -1},
            "clml_launch_microseconds must be a number from 0, not -1.0",
        ),
        ({"vta_megahertz": 0}, "vta_megahertz must be a positive number, not 0.0"),
        ({"vta_core_lanes": 3}, "vta_core_lanes must be 0 or a power of two, not 3"),
        ({"clml_version": 6}, "clml_version must be a whole number from 0 to 5, not 6"),
    ],
)
def test_wrong_facts(facts: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        with_facts(Target("mine"), facts)


def test_a_model_has_the_facts_of_its_family_but_its_own() -> None:
    model, family = load_target("adreno-660"), load_target("adreno-6xx")
    assert (model.device.compute_units, family.device.compute_units) == (3, 2)
    own = with_facts(family, {"compute_units": 3, "clml_version": 3})
    assert model == replace(own, name="adreno-660")


@pytest.mark.parametrize("name", target_names())
def test_facts_are_within_sane_ranges(name: str) -> None:
    target = load_target(name)
    assert target.machine.preferred_work_group <= target.device.max_work_group_size
    assert 0.1 < target.machine.image_cost < 20
    assert (
        target.device.images
        == (target.device.max_image_width >= 8192)
        == (target.device.max_read_images >= 128)
    )
    assert (
        target.device.images
        == (target.device.max_write_images >= 8)
        == target.device.image1d_buffer
    )
    assert not target.device.read_imageh or target.device.fp16
    alignments = [
        target.device.image_base_alignment_bytes,
        target.device.image_pitch_alignment_bytes,
    ]
    assert all(bytes & (bytes - 1) == 0 for bytes in alignments)
    assert not target.device.image_from_buffer or target.device.image_pitch_alignment_bytes >= 16
    assert 48 <= target.machine.registers <= 128


@pytest.mark.parametrize(
    ("texture", "cost", "images", "used"),
    [
        ("off", 0.1, True, False),
        ("auto", 1.25, True, True),
        ("auto", 1.3, True, False),
        ("auto", 0.5, False, False),
        ("prefer", 8.0, True, True),
        ("prefer", 0.5, False, False),
    ],
)
def test_when_textures_are_used(texture: str, cost: float, images: bool, used: bool) -> None:
    assert (
        Target.from_facts(
            "generic", {"texture": texture, "image_cost": cost, "images": images}
        ).uses_textures
        == used
    )


def test_adrenos_use_textures_and_processors_do_not() -> None:
    users = {name for name in target_names() if load_target(name).uses_textures}
    assert users >= {"nvidia", *(n for n in target_names() if n.startswith("adreno"))}
    assert users.isdisjoint({"generic", "pocl", "intel-cpu", "generic-gpu"})


@pytest.mark.parametrize("cost", [0.65, 1 / 3, 1e-7, 123456.789, 8.0])
def test_a_module_carries_every_float(cost: float) -> None:
    target = Target.from_facts("generic", {"image_cost": cost})
    module = ModuleOp([])
    set_target(module, target)
    assert target_of(Parser(CloptContext(), str(module)).parse_module()) == target


@pytest.mark.parametrize("fact", ["lanes = 4 : i64", 'clml = "on"'])
def test_the_facts_of_accelerators_in_a_text_are_checked(
    fact: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dialect does not know which accelerators are installed; tools and `nn-choose` do."""
    file = tmp_path / "net.mlir"
    text = f'builtin.module attributes {{cl.target = #cl.target<"mine", {{{fact}}}>}} {{}}'
    file.write_text(text)
    sentence = '"lanes" is not a fact of' if "lanes" in fact else 'clml must be "off" or "auto" or '
    with pytest.raises(CloptError, match=sentence):
        NNChoosePass().apply(CloptContext(), Parser(CloptContext(), text).parse_module())
    with pytest.raises(SystemExit) as leaving:
        opt.main([str(file)])
    assert leaving.value.code == 1
    assert re.search(f"clopt: {re.escape(str(file))}: {sentence}", capsys.readouterr().err)


@pytest.mark.parametrize("name", target_names())
def test_the_dialect_reads_the_same_facts_as_users(name: str) -> None:
    assert named_target(name) == load_target(name)
