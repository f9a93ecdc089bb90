"""The same model and target give the same bytes, in any process and for any hash seed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support import processes

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples" / "digits" / "digits.onnx"


CLML = "adreno-740 clml=auto clml_launch_microseconds=0 clml_bandwidth=1000"


TARGETS = {"pocl": 2, "nvidia": 2, "adreno-740": 2, CLML: 1}
"""Targets with the size of the batch."""

COMPILE = """
import sys
from clopt.tools.compile import main
model, folder, *rest = sys.argv[1:]
for number, target, batch in zip(rest[::3], rest[1::3], rest[2::3]):
    main([model, "-o", f"{folder}/{number}", "--target", target, "--dim", f"batch={batch}"])
"""

Outputs = dict[str, dict[str, bytes]]


def compile_all(folder: Path, hash_seed: str, targets: Sequence[str]) -> Outputs:
    """The files for each target; all are compiled in one new process, in this order."""
    folders = {target: folder / str(number) for number, target in enumerate(targets)}
    rest = [
        word
        for number, target in enumerate(targets)
        for word in (str(number), target, str(TARGETS[target]))
    ]
    command = [sys.executable, "-c", COMPILE, MODEL, folder, *rest]
    processes.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": hash_seed})
    return {
        target: {file.name: file.read_bytes() for file in path.iterdir()}
        for target, path in folders.items()
    }


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outputs, Outputs]:
    """Of two processes. What is compiled before a model makes no difference, either."""
    targets = list(TARGETS)
    return (
        compile_all(tmp_path_factory.mktemp("first"), "1", targets),
        compile_all(tmp_path_factory.mktemp("second"), "2", targets[::-1]),
    )


@pytest.mark.parametrize("target", ["pocl", "nvidia", "adreno-740"])
def test_two_compilations_give_the_same_bytes(target: str, outputs: tuple[Outputs, Outputs]):
    first, second = outputs
    assert first[target]["kernels.cl"]
    assert first[target] == second[target]


def test_two_choices_of_clml_give_the_same_bytes(outputs: tuple[Outputs, Outputs]):
    first, second = outputs
    assert any(b"clml.graph" in content for content in first[CLML].values())
    assert first[CLML] == second[CLML]
