"""C packages of models with open sizes, against the Python runtime and onnxruntime."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.clml.library import reference_library
from clopt.backends.pyopencl_runtime import find_device, list_devices
from clopt.errors import CloptWarning
from support.c.compilers import faults, for_valgrind, infer, link, run
from support.clml.small_networks import AROUND, network
from support.onnx.models import by_onnxruntime, model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

MAIN = Path(__file__).parent / "open_sizes.c"
RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


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
"""Keys are masked, means divide by the number of tokens, and boxes are rectangles."""

IMAGES = model(
    "float[n,2,h,8] x",
    "a = Conv<pads=[1,1,1,1]>(x, kernel) y = Relu(a) z = GlobalAveragePool(y)",
    constants={"kernel": floats(6, 2, 3, 3)},
)
"""Boxes have three extents."""

STATES = model(
    "float[7,n,4] x",
    "y, h, c = LSTM<hidden_size=5>(x, w, r)",
    constants={"w": floats(1, 20, 4), "r": floats(1, 20, 5)},
)
"""A repetition, with the batch on an inner axis."""

ROWS = model("float[n,6] x", "y = MatMul(x, w)", constants={"w": floats(6, 5)})
"""Boxes are used in place."""

Sizes = tuple[int, ...]
Case = tuple[onnx.ModelProto, dict[str, tuple[int, int, int]], Sequence[Sizes]]
CASES: dict[str, Case] = {
    "sentences": (
        SENTENCES,
        {"batch": (1, 4, 4), "tokens": (1, 9, 9)},
        [(4, 9), (3, 9), (3, 5), (2, 2), (4, 7), (2, 9), (1, 1)],
    ),
    "images": (IMAGES, {"n": (2, 3, 3), "h": (3, 7, 7)}, [(3, 7), (2, 4), (3, 5), (2, 7), (3, 3)]),
    "states": (STATES, {"n": (2, 6, 6)}, [(6,), (3,), (5,), (2,)]),
    "rows": (ROWS, {"n": (1, 5, 5)}, [(5,), (2,), (1,), (3,)]),
}


def dynamic(case: Case, device: str) -> clopt.DynamicModel:
    proto, dims, _ = case
    compiled = clopt.compile(proto, device=device, dims=dims)
    assert isinstance(compiled, clopt.DynamicModel)
    return compiled


def inputs_of(compiled: clopt.CompiledModel, case: Case) -> list[np.ndarray]:
    """An input at each set of sizes."""
    _, dims, sizes = case
    (port,) = compiled.inputs
    return [floats(*port.shape_at(dict(zip(dims, each, strict=True)))) for each in sizes]


def words_of(
    program: Path, folder: Path, platform: str, replay: int, case: Case
) -> tuple[Path, *tuple[str | Path, ...]]:
    sizes = [",".join(map(str, each)) for each in case[2]]
    weights = folder / "weights.bin"
    return program, platform, weights, str(replay), folder / "x.bin", folder / "y.bin", *sizes


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("replay", [0, 1])
def test_every_size_has_the_bits_of_the_python_runtime(
    name: str, replay: int, device: str, runtime: Sequence[Path], tmp_path: Path
):
    case = CASES[name]
    folder = tmp_path / "net"
    compiled = dynamic(case, device)
    compiled.save_c(folder, "net")
    given = inputs_of(compiled, case)
    (folder / "x.bin").write_bytes(b"".join(x.tobytes() for x in given))
    platform = find_device(device).platform
    program = link(folder, runtime, MAIN)
    words = words_of(program, folder, platform, replay, case)
    printed = run(*words).splitlines()
    assert printed.pop() == "net has no open dimension called colour."
    found = (folder / "y.bin").read_bytes()
    for x in given:
        ours, wanted = compiled.run([x]), by_onnxruntime(case[0], {"x": x})
        for each, reference in zip(ours, wanted, strict=True):
            np.testing.assert_allclose(each, reference, rtol=1e-4, atol=1e-5)
        for port, array in zip((*compiled.inputs, *compiled.outputs), [x, *ours], strict=True):
            extents = " ".join(map(str, array.shape))
            assert printed.pop(0) == f"{port.name} {extents}, {array.nbytes} bytes"
        for _ in ("on the host", "in buffers"):
            for array in ours:
                assert found[: array.nbytes] == array.tobytes()
                found = found[array.nbytes :]
    assert not found
    assert not printed


@pytest.mark.by_default(cases=0)
def test_sizes_that_are_refused(device: str, runtime: Sequence[Path], tmp_path: Path):
    """A squeeze removes one token's axis: a package does not have its program; the sizes stay."""
    proto = model(
        "float[batch,tokens,8] x", "s = Squeeze(x) t = ReduceSum<keepdims=0>(s) y = Mul(x, t)"
    )
    compiled = clopt.compile(proto, device=device, dims={"batch": (3, 3), "tokens": (1, 6)})
    with pytest.warns(CloptWarning, match="serves batch of 3, tokens of 2 to 6, because"):
        compiled.save_c(tmp_path, "net")
    program, x = link(tmp_path, runtime, MAIN), floats(3, 6, 8)
    case: Case = proto, {}, [(3, 1), (4, 6), (3, 7)]
    (tmp_path / "x.bin").write_bytes(3 * x.tobytes())
    words = words_of(program, tmp_path, find_device(device).platform, 0, case)
    printed = run(*words)
    refused = [line for line in printed.splitlines() if line.endswith(".")]
    assert refused[:3] == [
        "tokens of net is 1, but may be from 2 to 6.",
        "batch of net is 4, but may be from 3 to 3.",
        "tokens of net is 7, but may be from 2 to 6.",
    ]
    assert "`tokens` from 2 to 6" in (tmp_path / "README.md").read_text()


@pytest.mark.by_default(cases=0)
def test_the_example_takes_sizes(device: str, runtime: Sequence[Path], tmp_path: Path):
    compiled = dynamic(CASES["states"], device)
    compiled.save_c(tmp_path, "net")
    program, x = link(tmp_path, runtime), floats(7, 4, 4)
    exact = compiled.for_inputs([x])
    outputs, _ = infer(tmp_path, program, device, exact, [x], "--dim", "n=4", "--profile")
    for found, wanted in zip(outputs, compiled.run([x]), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.by_default(cases=0)
def test_both_plans_take_sizes(
    device: str, clml_runtime: Sequence[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A convolution whose height is open, by the reference library for CLML, or by kernels."""
    monkeypatch.setenv("OPENCL_LAYERS", str(reference_library()))
    text = AROUND.replace("float[1,3,8,8]", "float[1,3,h,8]").replace("1,5,7,7", "1,5,k,7")
    proto, sizes = network(text), {"h": (5, 8)}
    compiled = clopt.compile(proto, "generic", sizes, fallback=True, clml="prefer", clml_version=3)
    assert isinstance(compiled, clopt.DynamicModel)
    compiled.save_c(tmp_path, "net")
    program = link(tmp_path, clml_runtime)
    for height in (8, 5, 7):
        x = floats(1, 3, height, 8)
        exact = compiled.for_inputs([x])
        for plan in ("CLML", "kernels"):
            options = "--dim", f"h={height}", "--plan", plan
            outputs, _ = infer(tmp_path, program, device, exact, [x], *options)
            for found, wanted in zip(outputs, by_onnxruntime(proto, {"x": x}), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.by_default(cases=0)
@pytest.mark.skipif(not shutil.which("valgrind"), reason="looks at memory: install valgrind")
@pytest.mark.parametrize("name", ["sentences", "states"])
def test_memory(
    name: str, runtime: Sequence[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """No access out of bounds and no block lost, on PoCL."""
    platform, case = "Portable Computing Language", CASES[name]
    if platform not in {device.platform for device in list_devices()}:
        pytest.skip("runs on PoCL: install it")
    compiled = dynamic(case, "pocl")
    compiled.save_c(tmp_path, "net")
    (tmp_path / "x.bin").write_bytes(b"".join(x.tobytes() for x in inputs_of(compiled, case)))
    program = link(tmp_path, runtime, MAIN)
    for variable, value in for_valgrind(tmp_path).items():
        monkeypatch.setenv(variable, value)
    log = tmp_path / "log"
    words = words_of(program, tmp_path, platform, 1, case)
    run(*words)
    run(Path("valgrind"), "--leak-check=full", "--num-callers=8", f"--log-file={log}", *words)
    found = faults(log, rf"\(in {re.escape(str(program))}\)")
    assert not found, "\n\n".join(found)


@pytest.mark.by_default(cases=0)
def test_what_has_no_package(tmp_path: Path):
    exact = model("float[n,m] x", "y = ArgMax<axis=1, select_last_index=1>(x)")
    compiled = clopt.compile(exact, target="generic", dims={"m": (1, 3), "n": 2})
    with pytest.raises(clopt.CloptError, match="each size of this model needs its own; bind"):
        compiled.save_c(tmp_path / "net", "net")
    images = clopt.compile(
        IMAGES, "adreno-740", {"n": (1, 3), "h": 8}, texture="prefer", images=["x"]
    )
    with pytest.raises(clopt.CloptError, match="open sizes has no images"):
        images.save_c(tmp_path / "net", "net")
    assert not list(tmp_path.iterdir())
