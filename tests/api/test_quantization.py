"""Networks that clopt quantises itself, by data of the user."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import clopt
from clopt.errors import CloptWarning
from clopt.tools.compile import main

FOLDER = Path(__file__).parents[2] / "examples/digits"
BATCH = 60


def digits() -> np.ndarray:
    with np.load(FOLDER / "held_out.npz") as data:
        return data["images"][:, None].astype(np.float32) / 16


def quantized(
    data: np.ndarray, device: str, form: str = "int8", **more: Any
) -> clopt.CompiledModel:
    asked = clopt.Quantization(form, {"image": data}, **more)
    return clopt.compile(
        FOLDER / "digits.onnx", dims={"batch": BATCH}, device=device, quantize=asked
    )


def test_no_image_needs_no_ranges(device: str) -> None:
    """An open batch may be empty, although its samples then have no batches."""
    asked = clopt.Quantization("int8", {"image": digits()[:BATCH]})
    model = clopt.compile(FOLDER / "digits.onnx", device=device, quantize=asked)
    with pytest.warns(CloptWarning, match="compiles the model for each new size"):
        (found,) = model.run([np.empty((0, 1, 8, 8), np.float32)])
    assert found.shape == (0, 10)


@pytest.mark.in_turns
def test_any_number_of_samples_serves_any_batch(device: str) -> None:
    """Seven samples fill two batches of four; those that come twice do not change the largest."""
    asked = clopt.Quantization("int8", {"image": digits()[:7]}, method="max")
    path = FOLDER / "digits.onnx"
    model = clopt.compile(path, device=device, quantize=asked)
    images = digits()[7:10]
    (found,) = model.run([images])
    whole = clopt.compile(path, device=device, dims={"batch": 7}, quantize=asked)
    expected = whole.run([np.resize(images, (7, 1, 8, 8))])[0][:3]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.in_turns
@pytest.mark.parametrize(("form", "method"), [("int8", "kl"), ("int8-per-channel", "percentile")])
def test_digits_read_the_same(form: str, method: str, device: str) -> None:
    """On images that the calibration has not seen, at least 19 of 20."""
    images = digits()
    model = quantized(images[:BATCH], device, form, method=method)
    rest = images[BATCH:]
    found = np.concatenate(
        [model.run([rest[i : i + BATCH]])[0] for i in range(0, len(rest), BATCH)]
    )
    session = onnxruntime.InferenceSession(str(FOLDER / "digits.onnx"))
    (expected,) = session.run(None, {"image": rest})
    assert (found.argmax(1) == np.asarray(expected).argmax(1)).mean() >= 0.95
    assert not np.array_equal(found, expected)


@pytest.mark.in_turns
def test_the_report_has_the_errors_of_each_value(device: str) -> None:
    images = digits()[: 2 * BATCH]
    model = quantized(images, device, method="max", report=True, round_scales=True)
    report = model.quantization
    assert report is not None
    first, *_, last = report.values
    # Pixels are multiples of 1/16 up to 1, where int8 in steps of 1/128 ends at 127.
    assert (first.name, first.scale, first.elements) == ("image", 1 / 128, images.size)
    assert first.saturation == pytest.approx((images == 1).mean())
    noise = np.square(images[images == 1] / 128, dtype="f8").sum()
    assert first.relative_error == pytest.approx((noise / np.square(images).sum()) ** 0.5)
    assert (last.name, last.scale) == ("logits", None)
    session = onnxruntime.InferenceSession(str(FOLDER / "digits.onnx"))
    (exact,) = session.run(None, {"image": images})
    found = np.concatenate([model.run([images[i : i + BATCH]])[0] for i in (0, BATCH)])
    error = np.sqrt(np.square(found - exact).sum() / np.square(exact).sum())
    assert last.relative_error == pytest.approx(error, rel=1e-3)
    assert 10 ** (-last.sqnr / 20) == pytest.approx(last.relative_error)


def test_the_command_line_writes_the_report(tmp_path: Path, capsys: Any) -> None:
    np.savez(tmp_path / "data.npz", image=digits()[:BATCH])
    words = f"{FOLDER / 'digits.onnx'} --dim batch={BATCH} --target pocl --quantize int8"
    report = tmp_path / "report.json"
    more = f"--calibrate {tmp_path / 'data.npz'} --quantize-report {report} -o {tmp_path / 'out'}"
    main([*words.split(), *more.split()])
    names = [row["name"] for row in json.loads(report.read_text())]
    assert (names[0], names[-1]) == ("image", "logits")
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("saturated", *names))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"form": "int4"}, 'quantize must be one of int8, int8-per-channel, not "int4".'),
        ({"form": "int8", "method": "kl"}, "the method kl needs samples: arrays named like"),
        ({"form": "int8", "report": True}, "a report of errors needs samples"),
        ({"samples": {}}, "name the form, int8 or int8-per-channel"),
        ({"form": "int8", "method": "mean"}, 'kl, not "mean"'),
        ({"form": "int8", "samples": {}}, "the array for the input image is missing"),
        (
            {"form": "int8", "samples": {"pixels": np.zeros(1)}},
            "the model has no input pixels, only image",
        ),
        (
            {"form": "int8", "samples": {"image": np.zeros((6, 1, 8, 4), "f4")}},
            "shape n x 1 x 8 x 8, where n is at least 1, not float32 of [6, 1, 8, 4]",
        ),
        ({"form": "int8", "samples": "nowhere.npz"}, "nowhere.npz: cannot read this file"),
    ],
)
def test_mistakes_get_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    def quantize() -> None:
        asked = clopt.Quantization(**arguments)
        clopt.compile(FOLDER / "digits.onnx", target="pocl", dims={"batch": 2}, quantize=asked)

    with pytest.raises(clopt.CloptError, match=re.escape(sentence)):
        quantize()


def test_one_range_for_all_needs_no_data() -> None:
    model = clopt.compile(FOLDER / "digits.onnx", "pocl", {"batch": 1}, quantize="int8")
    assert "rint(" in model.source or "12582912" in model.source  # halves go to even
    in_shifts = clopt.Quantization("int8", round_scales=True)
    model = clopt.compile(FOLDER / "digits.onnx", "pocl", {"batch": 1}, quantize=in_shifts)
    assert "floor(" in model.source


LAYERS = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[1,3,8,8] x) => (float[1,2,4,4] y) {
  c = Conv(x, w, b)
  r = Relu(c)
  y = Conv(r, v)
}
"""
QDQ = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[1,3,8,8] x) => (float[1,2,4,4] y) {
  xq = QuantizeLinear(x, sx, z)
  xd = DequantizeLinear(xq, sx, z)
  wd = DequantizeLinear(w, sw, z)
  bd = DequantizeLinear(b, sb, zb)
  c = Conv(xd, wd, bd)
  r = Relu(c)
  rq = QuantizeLinear(r, sr, z)
  rd = DequantizeLinear(rq, sr, z)
  vd = DequantizeLinear(v, sv, z)
  y = Conv(rd, vd)
}
"""


def model_of(text: str, **arrays: np.ndarray) -> onnx.ModelProto:
    model = onnx.parser.parse_model(text)
    for name, array in arrays.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


@pytest.mark.in_turns
def test_any_scales_as_in_a_model_of_onnxruntime(device: str) -> None:
    """At most one step of one value between the layers away from the same network as QDQ."""
    random = np.random.default_rng(0)
    w, v = (random.normal(size=(*n, 3, 3)).astype("f4") for n in ((4, 3), (2, 4)))
    b = random.normal(size=4).astype("f4")
    samples = random.normal(size=(8, 3, 8, 8)).astype("f4")
    asked = clopt.Quantization("int8", {"x": samples}, "max", report=True)
    model = clopt.compile(model_of(LAYERS, w=w, b=b, v=v), device=device, quantize=asked)
    assert model.quantization is not None
    sx, sr = (np.float32(each.scale) for each in model.quantization.values if each.scale)
    assert sx == np.float32(np.abs(samples).max() / 127)
    sw, sv = (np.float32(np.abs(each).max() / 127) for each in (w, v))
    steps = {
        "w": np.round(w / sw).astype("i1"),
        "v": np.round(v / sv).astype("i1"),
        "b": np.round(b / (np.float64(sx) * sw)).astype("i4"),
    }
    scales = {"sx": sx, "sw": sw, "sb": np.float32(sx * sw), "sr": sr, "sv": sv}
    zeros = {"z": np.int8(0), "zb": np.int32(0)}
    arrays = {name: np.array(value) for name, value in (steps | scales | zeros).items()}
    session = onnxruntime.InferenceSession(model_of(QDQ, **arrays).SerializeToString())
    for x in np.split(samples, 8):
        (expected,) = session.run(None, {"x": x})
        (found,) = model.run([x])
        np.testing.assert_allclose(found, expected, rtol=0, atol=sr * np.abs(v).max())


def test_int8_without_samples_is_remarked() -> None:
    path, dims = FOLDER / "digits.onnx", {"batch": 1}
    model = clopt.compile(path, "pocl", dims, quantize="int8")
    assert any("without calibration data" in remark for remark in model.remarks)
    one_range = clopt.Quantization("int8", method="global-scale")
    model = clopt.compile(path, "pocl", dims, quantize=one_range)
    assert not any("without calibration data" in remark for remark in model.remarks)
