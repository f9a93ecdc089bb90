"""Networks with other choices than clopt's own give onnxruntime's answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import clopt
from clopt.tools import opt
from support.tuning.networks import separable_network

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"
TARGET = "pocl blocks=auto vector_width=8"
OTHERS = {
    "form": ("direct", "winograd 2"),
    "layout": ("plain", "#nn.layout<[1 by 8]>"),
    "fusion": ("joined", "apart"),
}
"""The choices of each kind of site, without plans, which `test_plans.py` tries."""


@pytest.fixture(scope="module", params=["digits", "separable"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "digits":
        return DIGITS
    path = tmp_path_factory.mktemp("model") / "separable.onnx"
    onnx.save(separable_network(), path)
    return path


def written(model: Path, folder: Path) -> str:
    """The choices that clopt makes for a model."""
    file = folder / "usual.choices"
    dims = ["--dim", "batch=1"] if model == DIGITS else []
    opt.main(
        [str(model), *dims, "--target", TARGET, "-p", "opencl", "-t", "choices", "-o", str(file)]
    )
    return file.read_text()


def compiled(model: Path, device: str, choices: Path | None = None) -> clopt.CompiledModel:
    dims = {"batch": 1} if model == DIGITS else None
    return clopt.compile(model, TARGET, dims, device, choices=choices, tuning="off")


def changes(text: str) -> Iterator[str]:
    """The lines for each site that has another choice."""
    for line in text.splitlines():
        kind, site, *chosen = line.split(maxsplit=2)
        for other in OTHERS.get(kind, ()):
            if chosen != [other]:
                yield f"{kind} {site} {other}"


def test_all_choices_give_the_same_program(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.choices"
    file.write_text(written(model, tmp_path))
    again = compiled(model, "pocl", file)
    assert again.source == compiled(model, "pocl").source
    assert not again.remarks


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
def test_each_other_choice_computes_the_same(model: Path, device: str, tmp_path: Path) -> None:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    shape = [1 if isinstance(size, str) else size for size in given.shape]
    inputs = {given.name: np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
    wanted = session.run(None, inputs)[0]
    usual = compiled(model, device).source
    seen: set[str] = set()
    for number, line in enumerate(changes(written(model, tmp_path))):
        file = tmp_path / f"{number}.choices"
        file.write_text(f"clopt-choices 1\n{line}\n")
        changed = compiled(model, device, file)
        assert not changed.remarks, line
        np.testing.assert_allclose(changed.run(inputs)[0], wanted, rtol=1e-4, atol=1e-4)
        if changed.source != usual:  # `nn-fold-relayouts` undoes some layouts at borders
            seen.add(line.split()[0])
    assert seen == ({"form", "layout"} if model == DIGITS else {"layout", "fusion"})
