"""Networks with other choices than clopt's own give onnxruntime's answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import clopt
from clopt.tools import opt
from support.tuning.networks import assorted_network, separable_network

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"
OTHERS = {
    "form": ("direct", "winograd 2"),
    "layout": ("plain", "#nn.layout<[1 by 8]>"),
    "fusion": ("joined", "apart"),
    "attention": ("joined", "apart"),
    "border": ("memory", "loops"),
    "place": ("part", "kernel"),
    "launch": ("shared", "own"),
}
"""The choices of each kind of site, without plans, which `test_plans.py` tries."""


PRINTED = "-p opencl -t choices -o".split()


def digits_network() -> onnx.ModelProto:
    """The digits example, for one picture."""
    model = onnx.load(DIGITS)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    return model


@dataclass(frozen=True)
class Case:
    """A network, its target, and the kinds of choices of which another one changes its kernels."""

    network: Callable[[], onnx.ModelProto]
    target: str
    kinds: set[str]


CASES = {
    "digits": Case(digits_network, "pocl blocks=auto vector_width=8", {"form", "layout", "launch"}),
    "separable": Case(separable_network, "pocl blocks=auto vector_width=8", {"layout", "fusion"}),
    "assorted": Case(
        assorted_network,
        "pocl blocks=off vector_width=8",
        {"form", "attention", "border", "place", "launch"},
    ),
}


@dataclass(frozen=True)
class Model:
    case: Case
    file: Path

    def written(self) -> str:
        """The choices that clopt makes for the model."""
        file = self.file.with_suffix(".choices")
        opt.main([str(self.file), "--target", self.case.target, *PRINTED, str(file)])
        return file.read_text()

    def compiled(self, device: str, choices: Path | None = None) -> clopt.CompiledModel:
        return clopt.compile(
            self.file, self.case.target, device=device, choices=choices, tuning="off"
        )


@pytest.fixture(scope="module", params=CASES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Model:
    case = CASES[request.param]
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(case.network(), path)
    return Model(case, path)


def changes(text: str) -> Iterator[str]:
    """The lines for each site that has another choice."""
    for line in text.splitlines():
        kind, site, *chosen = line.split(maxsplit=2)
        for other in OTHERS.get(kind, ()):
            if chosen != [other]:
                yield f"{kind} {site} {other}"


def test_all_choices_give_the_same_program(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "all.choices"
    file.write_text(model.written())
    again = model.compiled("pocl", file)
    assert again.source == model.compiled("pocl").source
    assert not again.remarks


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
def test_each_other_choice_computes_the_same(model: Model, device: str, tmp_path: Path) -> None:
    session = onnxruntime.InferenceSession(model.file, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    rng = np.random.default_rng(0)
    inputs = {given.name: rng.standard_normal(given.shape).astype(np.float32)}
    wanted = session.run(None, inputs)[0]
    usual = model.compiled(device).source
    seen: set[str] = set()
    for number, line in enumerate(changes(model.written())):
        file = tmp_path / f"{number}.choices"
        file.write_text(f"clopt-choices 1\n{line}\n")
        changed = model.compiled(device, file)
        assert not changed.remarks, line
        np.testing.assert_allclose(changed.run(inputs)[0], wanted, rtol=1e-4, atol=1e-4)
        if changed.source != usual:  # `nn-fold-relayouts` undoes some layouts at borders
            seen.add(line.split()[0])
    assert seen == model.case.kinds
