"""C packages compute what the Python runtime computes, bit for bit, on every OpenCL runtime."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.backends.kernel_source import ROUNDING_OPTION
from clopt.backends.pyopencl_runtime import find_device
from clopt.targets import load_target
from clopt.weights import Weights
from support import processes
from support.c.compilers import RUNTIME, STRICT, compilers, infer, link, link_objects, objects, run
from support.cl.image_programs import aliases, blur, lowered, memory
from support.cl.programs import parse, twice
from support.onnx import builders, models

pytestmark = pytest.mark.in_turns

ROOT = Path(__file__).parents[3]
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")


def check(
    model: clopt.CompiledModel,
    arrays: Sequence[np.ndarray],
    device: str,
    runtime: Sequence[Path],
    folder: Path,
) -> str:
    """Both runtimes give the same bits. Returns the C program's output."""
    model.save_c(folder, "net")
    outputs, printed = infer(folder, link(folder, runtime), device, model, arrays)
    for got, want in zip(outputs, model.run(arrays), strict=True):
        assert got.tobytes() == want.tobytes()
    return printed


def has_image_views(device: str) -> bool:
    return "cl_khr_image2d_from_buffer" in find_device(device).handle.extensions.split()


@pytest.mark.parametrize("target", ["", "adreno-740 texture=prefer float_coordinates=false"])
@pytest.mark.by_default(cases=1)
def test_digits(target: str, device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    model = clopt.compile(DIGITS, target or None, {"batch": 2}, device)
    x = np.random.default_rng(0).standard_normal((2, 1, 8, 8)).astype(np.float32)
    printed = check(model, [x], device, runtime, tmp_path / "net")
    if target:
        views = "views of the arena" if has_image_views(device) else "separate objects"
        assert f"images: {views}" in printed
    else:
        assert "images:" not in printed


@pytest.mark.in_turns
@pytest.mark.parametrize(
    "name", [pytest.param("squeezenet1_1", marks=pytest.mark.long), "text_encoder"]
)
def test_network(name: str, device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    network = builders.NETWORKS[name]()
    model = clopt.compile(network, device=device)
    given = builders.inputs_for(network)
    arrays = [given[info.name] for info in model.inputs]
    check(model, arrays, device, runtime, tmp_path / "net")


SHAPE = (2, 5, 7, 4)
X = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)


EMPTY = {
    "input and output": "y = Relu(x) w = Relu(z)",
    "input alone": "t = ReduceSum<keepdims=0>(x) y = Add(t, z)",
    "unchanged": "y = Identity(x) w = Identity(z)",
}


@pytest.mark.parametrize("body", EMPTY.values(), ids=EMPTY.keys())
def test_tensors_without_elements(
    body: str, device: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    model = clopt.compile(models.model("float[0,4] x, float[3] z", body), device=device)
    arrays = [np.zeros((0, 4), np.float32), np.array([-1, 0, 1], np.float32)]
    check(model, arrays, device, runtime, tmp_path / "net")


def placed(text: str, **places: str) -> str:
    """`text` with its `cl.alloc`s in an arena, where `places` says."""
    for name, place in places.items():
        text = text.replace(f"%{name} = cl.alloc", f"%{name} = cl.{place}")
    return text.replace("inputs 1 {", "inputs 1 {\n  %arena = cl.arena : memref<8192xi8>")


def compiled(text: str, device: str, weights: Weights | None = None) -> clopt.CompiledModel:
    """A program for a device that has all kinds of views, on one that may lack some."""
    target = load_target("adreno-740").with_facts({"texture": "prefer", "float_coordinates": False})
    return clopt.compile(lowered(text, target), target, device=device, weights=weights)


@pytest.mark.parametrize("kind", ["image2d", "image1d_buffer", "image2d_array"])
def test_images(kind: str, device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    """A filter whose first image leaves its bytes to a buffer."""
    weights = Weights()
    plain = memory(SHAPE, "f32")
    text = blur(SHAPE, weights.add(np.random.default_rng(1).random((2, 3, 3, 4), np.float32)), kind)
    if kind != "image2d_array":
        text = text.replace("@unpack(%u, %y)", "@unpack(%u, %v)")
        text = text.replace("%u = cl.alloc", f"%v = cl.alloc : {plain}\n  %u = cl.alloc")
        text = text.replace("cl.return", f"cl.enqueue_copy %v, %y : {plain}\n  cl.return")
        pitch = " pitch 640" if kind == "image2d" else ""
        view, buffer = f"image_view %arena[{{}}]{pitch}", "buffer_view %arena[128]"
        text = placed(text, t=view.format(128), u=view.format(2048), v=buffer)
    check(compiled(text, device, weights), [X], device, runtime, tmp_path / "net")


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize(("write", "read"), [("", "image1d_buffer"), ("image1d_buffer", "")])
def test_bytes_seen_as_image_and_as_buffer(
    write: str, read: str, device: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    place = f"{'image' if write else 'buffer'}_view %arena[256]"
    text = placed(aliases(SHAPE, (7, 5, 2, 4), write, read), t=place)
    check(compiled(text, device), [X], device, runtime, tmp_path / "net")


PARTS = """
cl.program @main(%x: memref<128xf32> {cl.name = "x"}, %y: memref<128xf32> {cl.name = "y"},
                 %e: memref<0xf32> {cl.name = "e"}) inputs 1 {
  %arena = cl.arena : memref<512xi8>
  %t = cl.buffer_view %arena[128] : memref<64xf32>
  %second = cl.view %x[256] : memref<128xf32> to memref<64xf32>
  %low = cl.view %y[0] : memref<128xf32> to memref<64xf32>
  %high = cl.view %y[256] : memref<128xf32> to memref<64xf32>
  %odd = cl.view %x[4] : memref<128xf32> to memref<64xf32>
  cl.enqueue_kernel @twice(%second, %low) : memref<64xf32>, memref<64xf32>
  cl.enqueue_copy %odd, %t : memref<64xf32>
  cl.enqueue_kernel @twice(%t, %high) : memref<64xf32>, memref<64xf32>
  cl.return
}
"""


def test_parts_of_inputs_and_outputs(device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    """Sub-buffers of the caller's buffers, and a copy from where no sub-buffer can start."""
    model = clopt.compile(parse(twice(64) + PARTS), device=device)
    x = np.arange(128, dtype=np.float32)
    check(model, [x], device, runtime, tmp_path / "net")
    y, _ = model.run([x])
    np.testing.assert_array_equal(y, np.concatenate([2 * x[64:], 2 * x[1:65]]))


def test_recorded_launches(device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    """Replayed around a copy, and one by one where the device cannot record them."""
    model = clopt.compile(parse(twice(64) + PARTS), device=device)
    model.save_c(tmp_path, "net")
    program, x = link(tmp_path, runtime), np.arange(128, dtype=np.float32)
    outputs, printed = infer(tmp_path, program, device, model, [x], "--replay")
    np.testing.assert_array_equal(outputs[0], 2 * np.concatenate([x[64:], x[1:65]]))
    extensions = find_device(device).handle.extensions.split()
    assert ("recorded and replayed" in printed) == ("cl_khr_command_buffer" in extensions)


def test_command_line_of_the_example(runtime: Sequence[Path], tmp_path: Path) -> None:
    """A mistake is one sentence and the exit code 1; --help names the plans."""
    clopt.compile(DIGITS, "generic", {"batch": 1}).save_c(tmp_path, "net")
    program = link(tmp_path, runtime)
    assert "--plan NAME           use only this plan; this package has kernels\n" in run(
        program, "--help"
    )
    device = ["--weights", str(tmp_path / "weights.bin")]
    for words, said in {
        ("--repeat", "foo"): '--repeat needs a whole number from 0, not "foo".',
        ("--repeat", "2x"): '--repeat needs a whole number from 0, not "2x".',
        ("--offload-version", "-1"): '--offload-version needs a whole number from 0, not "-1".',
        ("--repeat",): "--repeat needs a value; --help shows the options.",
        ("--colour",): "There is no option --colour; --help shows the options.",
        ("a", "b"): "b is one file too many: there are 1 inputs.",
        (*device, "--plan", "CLML"): "net has no plan called CLML; it has kernels.",
    }.items():
        done = processes.run([program, *words], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (1, f"{said}\n")


@pytest.mark.parametrize("compiler", compilers())
def test_compilers_find_nothing_to_warn_of(compiler: str, tmp_path: Path) -> None:
    model = clopt.compile(DIGITS, "adreno-740", {"batch": 1}, texture="prefer")
    model.save_c(tmp_path / "net", "net")
    sources = [*(tmp_path / "net").glob("*.c"), *RUNTIME.glob("*.c")]
    objects(compiler, sources, tmp_path)


def test_header_is_one_of_cpp(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("there is no C++ compiler: install g++")
    clopt.compile(DIGITS, "generic", {"batch": 1}).save_c(tmp_path, "net")
    source = tmp_path / "use.cpp"
    source.write_text('#include "net.h"\nint main() { return net_enqueue(0, 0) == CLOPT_OK; }\n')
    flags = ["-std=c++11", *STRICT[1:], f"-I{RUNTIME}", f"-I{tmp_path}", "-fsyntax-only"]
    processes.run(["g++", *flags, source], check=True)


def test_c_of_the_page(tmp_path: Path) -> None:
    parts = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / "c-package.md").read_text(), re.S)
    clopt.compile(DIGITS, "generic", {"batch": 1}).save_c(tmp_path, "digits")
    assert len(parts) == 2
    (tmp_path / "page.c").write_text("\n".join(parts))
    objects(compilers()[0], [tmp_path / "page.c"], tmp_path)


SPY = """
#include <clopt_runtime.h>
#include <stdio.h>
cl_int __real_clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
                             void(CL_CALLBACK *)(cl_program, void *), void *);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
    printf("built with %s\\n", options);
    return __real_clBuildProgram(program, count, devices, options, notify, data);
}
"""


@pytest.mark.parametrize("function", ["reciprocal", "sigmoid"])
def test_division_is_rounded_correctly_where_a_kernel_asks_for_it(
    function: str, device: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    module = parse(f"""
      func.func @main(%x: tensor<64xf32> {{nn.name = "x"}}) -> (tensor<64xf32> {{nn.name = "y"}}) {{
        %y = nn.unary {function} %x : (tensor<64xf32>) -> tensor<64xf32>
        func.return %y : tensor<64xf32>
      }}
    """)
    model = clopt.compile(module, device=device)
    model.save_c(tmp_path, "net")
    spy = tmp_path / "spy.c"
    spy.write_text(SPY)
    (compiler, *_) = compilers()
    sources = [*sorted(tmp_path.glob("net*.c")), tmp_path / "main.c", spy]
    made = [*objects(compiler, sources, tmp_path, tmp_path), *runtime]
    program = link_objects([Path("-Wl,--wrap=clBuildProgram"), *made], tmp_path / "main")
    x = np.linspace(1, 9, 64, dtype=np.float32)
    outputs, printed = infer(tmp_path, program, device, model, [x])
    assert outputs[0].tobytes() == model.run([x])[0].tobytes()
    rounded = function == "reciprocal" and find_device(device).has_rounding_option
    options = f"-cl-std=CL1.2 {ROUNDING_OPTION}" if rounded else "-cl-std=CL1.2"
    assert f"built with {options}\n" in printed
