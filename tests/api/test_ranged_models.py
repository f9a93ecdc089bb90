"""Models that are saved for all sizes of their ranges, against the unsaved ones and onnxruntime."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pyopencl as cl
import pyopencl.array as cla
import pytest

import clopt
from clopt import ranged_model
from clopt.backends.pyopencl_runtime import find_device
from clopt.files.folders import digest
from support import processes
from support.onnx.models import by_onnxruntime, model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


ROWS = model(
    "float[n,6] x", "h = MatMul(x, w) y = Softmax<axis=1>(h)", constants={"w": floats(6, 5)}
)

IMAGES = model(
    "float[n,2,8,8] x",
    "a = Conv<pads=[1,1,1,1]>(x, kernel) b = Relu(a) c = GlobalAveragePool(b) y = Flatten(c)",
    constants={"kernel": floats(6, 2, 3, 3)},
)

TOKENS = model(
    "float[1,n,8] x",
    "t = Transpose<perm=[0,2,1]>(x) s = MatMul(x, t) p = Softmax<axis=2>(s) y = MatMul(p, x)",
)
"""Attention needs masks beyond the last token."""

SENTENCES = model(
    "float[batch,tokens,8] x",
    """
        t = Transpose<perm=[0,2,1]>(x)
        s = MatMul(x, t)
        p = Softmax<axis=2>(s)
        y = MatMul(p, x)
        m = ReduceMean<keepdims=0>(y, one)
    """,
    constants={"one": [1]},
)

LAST = model("float[n,m] x", "y = ArgMax<axis=1, select_last_index=1>(x)")
"""m has a program for each size."""

Dims = dict[str, tuple[int, ...]]
CASES: dict[str, tuple[onnx.ModelProto, Dims, Sequence[tuple[int, ...]], int]] = {
    "rows": (ROWS, {"n": (1, 4, 4)}, [(n, 6) for n in range(1, 5)], 1),
    "images": (IMAGES, {"n": (0, 6, 3)}, [(n, 2, 8, 8) for n in range(7)], 6),
    "tokens": (TOKENS, {"n": (1, 9, 9)}, [(1, n, 8) for n in range(1, 10)], 1),
    "sentences": (
        SENTENCES,
        {"batch": (1, 3, 3), "tokens": (2, 6, 6)},
        [(batch, tokens, 8) for batch in (1, 2, 3) for tokens in range(2, 7)],
        1,
    ),
    "exact": (LAST, {"n": (1, 2), "m": (3, 5)}, [(n, m) for n in (1, 2) for m in (3, 4, 5)], 6),
}


def dynamic(proto: onnx.ModelProto, device: str, dims: Dims) -> clopt.DynamicModel:
    compiled = clopt.compile(proto, device=device, dims=dims)  # type: ignore[arg-type]
    assert isinstance(compiled, clopt.DynamicModel)
    return compiled


def saved(compiled: clopt.CompiledModel, folder: Path, device: str) -> clopt.RangedModel:
    compiled.save(folder)
    loaded = clopt.load(folder, device)
    assert isinstance(loaded, clopt.RangedModel)
    return loaded


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("name", CASES)
def test_every_size_has_the_bits_of_the_unsaved_model(name: str, device: str, tmp_path: Path):
    proto, dims, shapes, programs = CASES[name]
    compiled = dynamic(proto, device, dims)
    loaded = saved(compiled, tmp_path / "saved", device)
    assert loaded.table.programs == programs
    for shape in (*shapes, *reversed(shapes)):
        x = floats(*shape)
        found = loaded.run([x])
        for y, ours in zip(found, compiled.run([x]), strict=True):
            np.testing.assert_array_equal(y, ours)
        for y, wanted in zip(found, by_onnxruntime(proto, {"x": x}), strict=True):
            assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)
    assert compiled.programs == programs


@pytest.mark.by_default(cases=0)
def test_a_loaded_model_can_be_saved(device: str, tmp_path: Path):
    loaded = saved(dynamic(TOKENS, device, {"n": (1, 5, 5)}), tmp_path / "first", device)
    loaded.save(tmp_path / "second")
    files = [file for file in (tmp_path / "first").rglob("*") if file.is_file()]
    assert {"program.mlir", "sizes.json", "sizes.npz"} <= {file.name for file in files}
    for file in files:
        other = tmp_path / "second" / file.relative_to(tmp_path / "first")
        assert other.read_bytes() == file.read_bytes()
    assert loaded.remarks == dynamic(TOKENS, device, {}).remarks
    loaded.save(tmp_path / "first")


@pytest.mark.by_default(cases=0)
def test_loading_and_running_need_no_compiler(device: str, tmp_path: Path):
    dynamic(TOKENS, device, {"n": (2, 5, 5)}).save(tmp_path / "saved")
    code = (
        "import clopt, numpy, sys; "
        f"m = clopt.load({str(tmp_path / 'saved')!r}, {device!r}); "
        "print(m.run([numpy.ones((1, 3, 8), 'f')])[0].sum()); "
        "assert not {'onnx', 'clopt.passes', 'clopt.frontends'} & set(sys.modules)"
    )
    done = processes.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert float(done.stdout) == pytest.approx(24)


@pytest.mark.by_default(cases=0)
def test_arrays_and_outputs_on_the_device(device: str, tmp_path: Path):
    dynamic(TOKENS, device, {"n": (1, 5, 5)}).save(tmp_path / "saved")
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    loaded = clopt.load(tmp_path / "saved", clopt.Place(queue=queue))
    for n in (5, 1, 3):
        x = floats(1, n, 8)
        (wanted,) = by_onnxruntime(TOKENS, {"x": x})
        y = cla.empty(queue, (1, n, 8), np.float32)
        loaded.enqueue(queue, {"x": cla.to_device(queue, x), "y": y})
        np.testing.assert_allclose(y.get(), wanted, rtol=1e-5, atol=1e-5)
        mine = np.empty((1, n, 8), np.float32)
        assert loaded.run([x], {"y": mine})[0] is mine
        np.testing.assert_array_equal(mine, y.get())
        assert loaded.profile([x], runs=1).rows


REFUSED: dict[str, tuple[Callable[[clopt.RangedModel], object], str]] = {
    "above": (lambda m: m.run([floats(1, 6, 8)]), "n is 6, but its range is from 1 to 5"),
    "below": (lambda m: m.run([floats(1, 0, 8)]), "n is 0, but its range is from 1 to 5"),
    "shape": (lambda m: m.run([floats(1, 2, 7)]), "the shape 1x2x7, but the model takes 1xnx8"),
    "larger": (lambda m: m.for_inputs([floats(1, 2, 8)]), "no program of their own"),
    "source": (lambda m: m.source, "has programs for several sizes"),
    "profile": (lambda m: m.profile(), "needs inputs"),
    "copy": (copy.copy, "has programs for several sizes"),
}


@pytest.mark.by_default(cases=0)
def test_what_a_loaded_model_refuses(device: str, tmp_path: Path):
    loaded = saved(dynamic(TOKENS, device, {"n": (1, 5, 4)}), tmp_path / "saved", device)
    for call, match in REFUSED.values():
        with pytest.raises(clopt.CloptError, match=match):
            call(loaded)
    assert loaded.for_inputs([floats(1, 1, 8)]).inputs[0].shape == (1, 1, 8)
    assert repr(loaded) == (
        "RangedModel(x: 1xnx8 float32 -> y: 1xnx8 float32; 4 programs for n of 1 to 5)"
    )


@pytest.mark.parametrize(
    ("dims", "match"),
    [
        ({}, r'the largest one; compile it with dims=\{"n": \(1, 64\)\}'),
        ({"n": (1, 64)}, r'the largest one; compile it with dims=\{"m": \(1, 64\)\}'),
        ({"n": (1, 64), "m": (1, 64)}, "4096 sets of sizes, and a saved model has at most 2048"),
        (
            {"n": (1, 1), "m": (2, 4)},
            r"takes? 3 programs, .* at most 2; .* dims=\{\"n\": \(1, 1, 1\), \"m\": \(2, 4, 4\)\}",
        ),
    ],
)
@pytest.mark.by_default(cases=1)
def test_ranges_that_cannot_be_saved(
    dims: Dims, match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ranged_model, "MOST_SAVED", 2)
    compiled = clopt.compile(LAST, target="pocl", dims=dims)  # type: ignore[arg-type]
    with pytest.raises(clopt.CloptError, match=match):
        compiled.save(tmp_path / "saved")
    assert not list(tmp_path.iterdir())


@pytest.mark.by_default(cases=0)
def test_damage_is_noticed(device: str, tmp_path: Path):
    folder = tmp_path / "saved"
    dynamic(TOKENS, device, {"n": (1, 3)}).save(folder)
    for name in ("sizes.json", "sizes.npz", "program.mlir", "1/program.mlir", "1/kernels.cl"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-2])
        with pytest.raises(clopt.CloptError, match=f"{name} differs from the file"):
            clopt.load(folder, device)
        (folder / name).write_bytes(content)
    table = json.loads((folder / "sizes.json").read_text())
    wrong: list[object] = [[], {}, {**table, "rows": [[1]]}, {**table, "ranges": {"n": 3}}]
    for damaged in wrong:
        (folder / "sizes.json").write_text(json.dumps(damaged))
        manifest = json.loads((folder / "model.json").read_text())
        manifest["files"]["sizes.json"] = digest((folder / "sizes.json").read_bytes())
        (folder / "model.json").write_text(json.dumps(manifest))
        with pytest.raises(clopt.CloptError, match=r"sizes\.json is damaged"):
            clopt.load(folder, device)
