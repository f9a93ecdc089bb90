"""Wrong arguments to the Python functions: one sentence with the remedy, never a crash inside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import clopt

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
X = np.zeros((1, 1, 8, 8), np.float32)


def digits(**arguments: Any) -> clopt.CompiledModel:
    return clopt.compile(DIGITS, **{"dims": {"batch": 1}, "target": "pocl"} | arguments)


class TorchModule:
    """What tells a `torch.nn.Module`."""

    forward = state_dict = None


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "number": (lambda: clopt.compile(3), "onnx.ModelProto or a ModuleOp, not int"),  # pyright: ignore
    "array": (lambda: clopt.compile(X), "not numpy.ndarray; export it to ONNX first"),  # pyright: ignore
    "module of torch": (
        lambda: clopt.compile(TorchModule()),  # pyright: ignore
        r"not .*TorchModule; call clopt.from_torch\(module, inputs\)\.",
    ),
    "dims list": (lambda: digits(dims=["batch", 1]), 'for example {"batch": 1}, not list'),
    "dims text": (lambda: digits(dims={"batch": "1"}), "'batch': '1' is not a name with a whole"),
    "dims float": (lambda: digits(dims={"batch": 1.0}), "'batch': 1.0 is not a name with a whole"),
    "dims name": (lambda: digits(dims={0: 1}), "0: 1 is not a name with a whole number"),
    "dims order": (
        lambda: clopt.compile(DIGITS, {"batch": 1}),
        "the path of a .toml file, or a Target, not",
    ),  # pyright: ignore
    "target": (lambda: digits(target=5), "the path of a .toml file, or a Target, not int"),
    "device": (lambda: digits(device=0.5), r"its number in clopt.list_devices\(\), or an entry"),
    "context": (lambda: clopt.Place(context="gpu"), "context must be a pyopencl.Context, not str"),
    "queue": (lambda: clopt.Place(queue=3), "queue must be a pyopencl.CommandQueue, not int"),
    "arena": (
        lambda: clopt.Place(arena=1024),
        "arena must be a list of buffers of pyopencl, not int",
    ),
    "weights": (lambda: digits(weights={}), "weights must be a clopt.weights.Weights, not dict"),
    "keyword": (lambda: digits(textures="off"), 'no argument "textures".*did you mean texture'),
    "field of a place": (
        lambda: digits(queue=3),
        r'no argument "queue"; write device=clopt.Place\(q',
    ),
    "field of a quantization": (
        lambda: digits(samples={}),
        r'no argument "samples"; write quantize=clopt.Quantization\(samples=...\).',
    ),
    "quantize": (
        lambda: digits(quantize=8),
        'quantize must be "int8", or a clopt.Quantization, not int',
    ),
    "accelerators": (lambda: digits(accelerators="reference"), "accelerators must be a mapping"),
    "accelerator": (lambda: digits(accelerators={"vta": "x"}), 'names "vta"; it may name clml'),
    "argument": (lambda: digits(dim={"batch": 1}), 'no argument "dim" .*did you mean dims'),
    "load number": (lambda: clopt.load(3), "folder must be the path that .* not int"),  # pyright: ignore
    "load file": (lambda: clopt.load(DIGITS), "is a file; load needs a folder that"),
    "save": (lambda: digits().save(3), "folder must be the path of a folder, not int"),  # pyright: ignore
    "run array": (lambda: digits().run(X), 'list of arrays \\("image"\\), not numpy.ndarray'),  # pyright: ignore
    "run number": (lambda: digits().run(3), "list of arrays .* not int"),  # pyright: ignore
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_argument(case: str) -> None:
    call, sentence = REFUSED[case]
    with pytest.raises(clopt.CloptError, match=sentence) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_sizes_of_numpy_are_whole_numbers() -> None:
    assert digits(dims={"batch": np.int64(2)}).inputs[0].shape == (2, 1, 8, 8)


def test_an_exported_program_of_torch_is_a_model() -> None:
    class ONNXProgram:
        model_proto = onnx.load(DIGITS)

    model = clopt.compile(ONNXProgram(), target="pocl", dims={"batch": 1})  # pyright: ignore
    assert model.source == digits().source


def test_two_networks_in_a_module(tmp_path: Path) -> None:
    network = "func.func @{}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n"
    network += "  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>\n"
    network += "  func.return %y : tensor<4xf32>\n}}\n"
    path = tmp_path / "two.mlir"
    path.write_text(network.format("a") + network.format("b"))
    with pytest.raises(clopt.CloptError, match="but this has 2; keep one of its networks"):
        clopt.compile(path, target="pocl")
