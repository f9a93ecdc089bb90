"""The facts of CLML follow from its times, and nothing else does."""

from __future__ import annotations

from math import inf
from pathlib import Path

import clml_costs
import numpy as np
import pytest
from clml_costs import CASES, FACTS, FromFiles, Sample, commands_of, fit, scaled, toml

from clopt.dialects.cl import Target
from clopt.passes.nn.clml.cost import CommandCosts, work_of_command
from clopt.targets import load_target, with_facts

TARGET = load_target("adreno-740")


class Modelled(FromFiles):
    """A device whose times are those of the cost model."""

    def __init__(self, target: Target):
        self.target = target

    def samples(self) -> list[Sample]:
        costs = CommandCosts(self.target)
        return [
            Sample(case.name, op.name, work_of_command(op), costs.command(op))
            for case in CASES
            for op in commands_of(self.compile(case, "prefer"))
        ]


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return Modelled(TARGET).samples()


def test_the_facts_are_found_again(samples: list[Sample]) -> None:
    assert {sample.load.rate for sample in samples if sample.load.terms} == set(FACTS[:3])
    found = fit(samples, TARGET.device.compute_units)
    for fact in FACTS:
        assert found[fact] == pytest.approx(TARGET.facts[fact], rel=1e-6)


def test_noise_makes_no_negative_facts(samples: list[Sample]) -> None:
    random = np.random.default_rng(1)
    for _ in range(5):
        noisy = [
            Sample(s.case, s.command, s.load, s.microseconds * random.uniform(0.5, 2))
            for s in samples
        ]
        assert all(0 <= fact <= inf for fact in fit(noisy, TARGET.device.compute_units).values())


def test_facts_are_in_the_scale_of_the_cost_model() -> None:
    """On a device that takes twice as long as modelled, the facts halve the times."""
    facts = {fact: TARGET.facts[fact] for fact in FACTS}
    half = scaled(facts, 2.0)
    for sample in Modelled(TARGET).samples()[:3]:
        whole = CommandCosts(TARGET).time(sample.load)
        assert CommandCosts(with_facts(TARGET, half)).time(sample.load) == pytest.approx(whole / 2)


def test_the_lines_are_those_of_a_target(tmp_path: Path) -> None:
    import tomllib

    facts = {fact: TARGET.facts[fact] for fact in FACTS} | {FACTS[0]: inf}
    read = tomllib.loads(toml(facts, "a phone", 1.5))
    assert with_facts(Target("phone"), read).facts[FACTS[0]] == 1e6
    assert read.keys() == set(FACTS)


def test_packages_for_a_device_without_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["clml_costs.py", "--target", "adreno-740", "--only", "sigmoid 8"]
    monkeypatch.setattr("sys.argv", [*arguments, "--write", str(tmp_path)])
    assert clml_costs.main() == 0
    places = [tmp_path / "sigmoid_8_at_8" / form for form in ("clml", "kernels")]
    assert "clEnqueueMLOpQCOM" in "".join(p.read_text() for p in places[0].rglob("*.c"))
    assert all((place / "main.c").is_file() for place in places)
    (places[0] / "profile.txt").write_text(
        "     0.020 ms  CLML    Sigmoid\n     0.020 ms  in all\n", encoding="utf-8"
    )
    (places[1] / "profile.txt").write_text(
        "     0.030 ms  kernel  sigmoid_1\n     0.030 ms  in all\n", encoding="utf-8"
    )
    monkeypatch.setattr("sys.argv", [*arguments, "--read", str(tmp_path)])
    assert clml_costs.main() == 0
    assert "clml_launch_microseconds = " in capsys.readouterr().out
