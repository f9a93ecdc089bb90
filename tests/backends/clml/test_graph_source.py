"""The C that CLML graphs become, read as text and compiled against our header."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

import clopt
from clopt import CloptError
from clopt.backends.clml.graph_source import print_graphs
from clopt.backends.clml.graphs import constant_keys, make_graphs
from clopt.backends.clml.operations import KINDS, float_text
from clopt.backends.host_c import package_files
from clopt.dialects import clml
from clopt.dialects.clml import Arithmetic
from clopt.weights import Weights
from support import processes
from support.c.compilers import CLML, INCLUDE, STRICT, compilers
from support.clml.graph_programs import kinds, row
from support.onnx import models

MODE = "CL_ARITHMETIC_MODE_FP32_QCOM"
ONE, ZERO = "{{1.0f}, CL_FLOAT}", "{{0.0f}, CL_FLOAT}"
CONVOLUTION, KEEP_NAN = "CL_CONVOLUTION_MODE_CONVOLUTION_QCOM", "CL_PROPAGATE_NAN_QCOM"

DESCRIPTORS = [
    (
        "convolution",
        f"CL_CONVOLUTION_MODE_DEPTHWISE_QCOM, 1, 4, "
        f"{{1, 2}}, {{1, 2}}, {{1, 2}}, {{1, 1}}, 0, {MODE}",
    ),
    (
        "convolution",
        f"CL_CONVOLUTION_MODE_TRANSPOSE_QCOM, 1, 4, "
        f"{{0, 0}}, {{0, 0}}, {{2, 2}}, {{1, 1}}, 0, {MODE}",
    ),
    ("convolution", f"{CONVOLUTION}, 1, 4, {{0, 1}}, {{2, 3}}, {{1, 1}}, {{2, 1}}, 0, {MODE}"),
    ("activation", f"CL_ACTIVATION_RELU, {KEEP_NAN}, {MODE}"),
    ("convolution", f"{CONVOLUTION}, 1, 4, {{0, 0}}, {{0, 0}}, {{1, 1}}, {{1, 1}}, 0, {MODE}"),
    ("batchnorm", f"CL_BATCHNORM_MODE_SPATIAL_QCOM, {MODE}"),
    ("convolution", f"{CONVOLUTION}, 1, 4, {{0, 0}}, {{0, 0}}, {{1, 1}}, {{1, 1}}, 0, {MODE}"),
    ("batchnorm", f"CL_BATCHNORM_MODE_SPATIAL_QCOM, {MODE}"),
    ("activation", f"CL_ACTIVATION_RELU6, {KEEP_NAN}, {MODE}"),
    ("batchnorm", f"CL_BATCHNORM_MODE_SPATIAL_QCOM, {MODE}"),
    ("activation", f"CLOPT_CLML_ACTIVATION_SIGMOID, {KEEP_NAN}, {MODE}"),
    ("activation", f"CLOPT_CLML_ACTIVATION_TANH, {KEEP_NAN}, {MODE}"),
    (
        "pooling",
        "CL_POOLING_MODE_AVERAGE_EXCLUDE_PADDING_QCOM, 4, {0, 1}, {0, 1}, {2, 2}, {2, 3}, "
        f"{KEEP_NAN}, {MODE}",
    ),
    (
        "pooling",
        f"CL_POOLING_MODE_MAX_QCOM, 4, {{0, 1}}, {{0, 1}}, {{2, 2}}, {{2, 3}}, {KEEP_NAN}, {MODE}",
    ),
    ("binary", f"CL_TENSOR_OP_MAX_QCOM, {ONE}, {ONE}, {ZERO}, {MODE}"),
    ("pad", f"CL_PAD_MODE_REFLECT_QCOM, {{0, 0}}, {{1, 3, 2, 3, 0, 0, 0, 0}}, {MODE}"),
    ("depthtospace", f"2, {MODE}"),
    ("resize_bilinear", f"CL_TRUE, CL_FALSE, {MODE}"),
    ("concat", f"1, 2, {MODE}"),
    ("clip", f"CL_CLIP_BY_VALUE_QCOM, {{{{6.25f}}, CL_FLOAT}}, {{{{-0.5f}}, CL_FLOAT}}, {MODE}"),
    ("binary", f"CL_TENSOR_OP_SUB_QCOM, {ONE}, {ONE}, {ZERO}, {MODE}"),
    ("fully_connected", f"1, CL_FC_WEIGHT_TRANSFORM_TRANSPOSE_QCOM, {MODE}"),
    (
        "softmax",
        f"CL_SOFTMAX_ALGORITHM_ACCURATE_QCOM, CLOPT_CLML_SOFTMAX_OVER_CHANNELS, {MODE}",
    ),
    (
        "gemm",
        "1, 3, 5, CL_GEMM_TRANSFORM_NONE_QCOM, CL_GEMM_TRANSFORM_TRANSPOSE_QCOM, "
        f"{ONE}, {ZERO}, {MODE}",
    ),
]
"""H before W everywhere; padding before, then behind; the larger bound of a clip first."""


def files(arithmetic: Arithmetic = Arithmetic.FP32) -> Mapping[str, bytes]:
    """The package of a graph with every kind of command."""
    module, weights = kinds(arithmetic)
    model = clopt.compile(module, "generic", weights=weights)
    return package_files(model.module, model.source, model.weights, "net")


@pytest.fixture(scope="module")
def package() -> Mapping[str, bytes]:
    return files()


@pytest.fixture(scope="module")
def text(package: Mapping[str, bytes]) -> str:
    """The graph's C, with each run of spaces as one space."""
    return re.sub(r"\s+", " ", package["net_clml.c"].decode())


def test_every_command_has_a_row() -> None:
    commands = {op for op in clml.CLML.operations if issubclass(op, clml.MLOp)}
    assert KINDS.keys() == commands


def test_descriptors(text: str) -> None:
    found = re.findall(r"static const cl_ml_op_(\w+)_desc_qcom \w+ = \{ (.*?)\};", text)
    assert found == DESCRIPTORS


def test_no_number_of_an_enumerator(text: str) -> None:
    """Each name is one of the header or of the runtime's macros."""
    known = (CLML / "clopt_clml.h").read_text()
    for header in (CLML.parent / "reference" / "include" / "CL").glob("*.h"):
        known += header.read_text()
    names = set(re.findall(r"\b(?:CL|CLOPT)_[A-Z0-9_]+\b", text))
    names -= {"CL_FLOAT", "CL_TRUE", "CL_FALSE"}  # of OpenCL itself
    assert len(names) > 25
    assert not {name for name in names if not re.search(rf"\b{name}\b", known)}


def operation(text: str, name: str) -> tuple[str, list[str]]:
    """The fields in the row of an operation, and the names of its tensors."""
    (found,) = re.findall(
        rf'\{{\.name = "{name}", (.*?), \.tensor_count = (\d+), (.*?)\}}\}}', text
    )
    tensors = re.findall(r"tensor_clml_0_(\w+)|CLOPT_CLML_(UNUSED)", found[2])
    assert int(found[1]) == len(tensors)
    return found[0], ["".join(pair) for pair in tensors]


def test_operations(text: str) -> None:
    row, tensors = operation(text, "conv depthwise")
    assert row.startswith(".kind = &clopt_clml_convolution,")
    assert tensors == ["entry", "wd", "UNUSED", "depthwise"]
    row, tensors = operation(text, "conv_batch_norm normed")
    assert ".epsilon = 0.001f" in row
    assert tensors == ["relu", "wn", "UNUSED", "n0", "n1", "n2", "n3", "normed"]
    row, tensors = operation(text, "conv_batch_norm_activation relu6")
    assert ".epsilon = 2e-05f" in row
    assert re.search(r"\.batch_norm = &(\w+), \.activation = &(\w+)", row)
    assert tensors == ["normed", "wm", "bm0", "m0", "m1", "m2", "m3", "relu6"]
    assert operation(text, "copy entry")[0] == ".kind = &clopt_clml_copy"
    assert operation(text, "reshape flat")[0] == ".kind = &clopt_clml_reshape"
    assert operation(text, "concat both")[1] == ["padded", "small", "both"]


def test_commands_count_through(package: Mapping[str, bytes]) -> None:
    """In the model's own table operations have the numbers of the graph's rows."""
    own = package["net.c"].decode()
    rows = re.findall(
        r"/\* clml\.\w+ @clml_0\[(\d+)\] \*/\n\s*\{\.kind = CLOPT_OFFLOAD, \.operation = (\d+)", own
    )
    assert sorted(rows, key=lambda pair: int(pair[0])) == [(str(i), str(i)) for i in range(23)]
    assert ".offload = &clopt_clml,\n    .offload_tables = &net_clml," in own


def test_tensors_and_weights(package: Mapping[str, bytes], text: str) -> None:
    (row,) = re.findall(r"\[tensor_clml_0_wt\] = \{(.*?)\},? \[", text)
    fields = re.fullmatch(
        r'\.name = "wt", \.descriptor = \{CL_FLOAT, CL_TENSOR_LAYOUT_OPTIMAL_QCOM, 4, 8, 2, 2, 0, '
        r"CL_TENSOR_DIMENSIONS_4D_QCOM, \{0\}\}, \.usage = CLOPT_CLML_PARAMETER, "
        r"\.bytes = 512, \.weights_offset = (\d+)",
        row,
    )
    assert fields, row
    _, weights = kinds()
    (key,) = (key for key in weights.keys() if weights.hint(key) == "wt")
    offset = int(fields[1])
    assert package["weights.bin"][offset : offset + 512] == weights.get(key).tobytes()
    assert offset % 64 == 0
    assert "CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 3, 1, 1, 0" in text  # the output, bound as it is
    assert ".usage = CLOPT_CLML_CNN, .bytes = 5376}" in text  # 2 blocks, 14 rows of 192 bytes


def test_half() -> None:
    text = files(Arithmetic.FP16_ACC32)["net_clml.c"].decode()
    assert "CL_ARITHMETIC_MODE_FP16_ACC32_QCOM" in text
    assert "CL_ARITHMETIC_MODE_FP32_QCOM" not in text
    assert "{CL_HALF_FLOAT, CL_TENSOR_LAYOUT_OPTIMAL_QCOM, 4, 8, 2, 2, 0" in text
    assert "{CL_FLOAT, CL_TENSOR" not in text
    assert "{{6.25f}, CL_FLOAT}" in text  # scalars are floats still
    assert "CL_ARITHMETIC_MODE_FP16_QCOM" in files(Arithmetic.FP16)["net_clml.c"].decode()


def test_arithmetic_of_commands() -> None:
    """A command's own arithmetic is in its descriptors, and only there."""
    module, weights = kinds(Arithmetic.FP16)
    (pool, *_) = (
        op for op in module.walk() if isinstance(op, clml.PoolOp) and op.kind.data == "average"
    )
    pool.arithmetic = clml.ArithmeticAttr(Arithmetic.FP16_ACC32)
    module.verify()
    model = clopt.compile(module, "generic", weights=weights)
    text = package_files(model.module, model.source, model.weights, "net")["net_clml.c"].decode()
    assert text.count("CL_ARITHMETIC_MODE_FP16_ACC32_QCOM") == 1
    descriptor = text[: text.index("CL_ARITHMETIC_MODE_FP16_ACC32_QCOM")].rsplit("static const", 1)
    assert "CL_POOLING_MODE_AVERAGE_EXCLUDE_PADDING_QCOM" in descriptor[1]


def test_same_bytes_each_time(package: Mapping[str, bytes]) -> None:
    assert files() == package


def test_package_says_what_is_in_it(package: Mapping[str, bytes]) -> None:
    assert b'"clml": {\n    "version": 3,\n    "operations": 23\n  }' in package["package.json"]
    names = {path for path in package if path.startswith(("clopt_clml/", "clml/"))}
    assert {"clopt_clml/clopt_clml.h", "clml/CL/cl_qcom_ml_ops.h"} < names
    cmake, readme = package["CMakeLists.txt"].decode(), package["README.md"].decode()
    for path in names - {p for p in names if p.endswith(".h")}:
        assert path in cmake
    assert "CLML_INCLUDE_DIR" in cmake
    assert "23 of its operations are CLML's (`cl_qcom_ml_ops`, version 3 or newer)" in readme
    needs = (
        "To run, it needs an OpenCL library, a device with CLML or the reference library below, "
        "and nothing else; for CLML on a device, its build needs the header of the vendor's SDK "
        "([CLML](#clml))."
    )
    assert needs in re.sub(r"\s+", " ", readme)
    assert max(map(len, readme.splitlines())) <= 120
    for path in ("net.c", "net_clml.c", *names):
        assert max(map(len, package[path].decode().splitlines())) <= 100, path


def test_package_finds_the_reference_library(package: Mapping[str, bytes], tmp_path: Path) -> None:
    """The command of the README names the folder of its sources, from any folder."""
    (commands,) = re.findall(r"```sh\n(reference=.*?)```", package["README.md"].decode(), re.S)
    find, build, _ = commands.splitlines()
    listing = build.replace("cc -std=c99", "printf '%s\\n'")
    python = f'PATH="{Path(sys.executable).parent}:$PATH"'
    done = processes.run(
        ["sh", "-c", f"{python}\n{find}\n{listing}"], cwd=tmp_path, capture_output=True, text=True
    )
    words = done.stdout.splitlines()
    (include,) = (Path(word[2:]) for word in words if word.startswith("-I"))
    assert (include / "CL" / "cl_qcom_ml_ops.h").is_file()
    assert {Path(word) for word in words if word.endswith(".c")} == {*include.parent.glob("*.c")}


def test_packages_without_clml_have_no_trace_of_it() -> None:
    weights = Weights()
    model = clopt.compile(
        models.model("float[1,8,9,9] x", "y = Relu(x)"), "adreno-740", weights=weights
    )
    for path, data in package_files(model.module, model.source, weights, "net").items():
        if not path.startswith("clopt_runtime/"):
            assert b"clml" not in data.lower(), path


def test_names_of_graphs_and_tensors(tmp_path: Path) -> None:
    """No two tensors share an identifier, whatever they and their graphs are called."""
    graphs: dict[str, clml.GraphOp] = {}
    weights = Weights()
    for name, hint in (("g", "_1_x"), ("g/1", "x"), ("*/ ??/" * 50, "t" * 90), ("g:1", "t" * 91)):
        module, arrays = kinds()
        for key in arrays.keys():
            weights.add(arrays.get(key), arrays.hint(key))
        (graphs[name],) = (op for op in module.ops if isinstance(op, clml.GraphOp))
        for op in graphs[name].commands:
            op.results[0].name_hint = hint
    made = make_graphs(graphs, weights)
    offsets = dict.fromkeys(constant_keys(made), 0)
    text = f'#include "clopt_clml.h"\n#include <math.h>\n{print_graphs(made, offsets, "net")}'
    assert max(map(len, re.findall(r"\w+", text))) <= 63
    (tmp_path / "net_clml.c").write_text(text)
    for compiler in compilers():
        check(compiler, [*STRICT, *INCLUDE], tmp_path / "net_clml.c")


def test_weights_of_another_model() -> None:
    module, weights = row()
    key = weights.add(np.ones(3, np.float32))
    constant = next(op for op in module.walk() if isinstance(op, clml.ConstantOp))
    constant.properties["key"] = StringAttr(key)
    model = clopt.compile(module, "generic", weights=weights)
    with pytest.raises(CloptError, match=rf'weight "{key}" has 3 elements of float32, but .* 216 '):
        package_files(model.module, model.source, weights, "net")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(6, "6.0f"), (0.1, "0.1f"), (1e-5, "1e-05f"), (-np.inf, "-INFINITY"), (1e20, "1e+20f")],
)
def test_floats(value: float, expected: str) -> None:
    assert float_text(value) == expected


@pytest.fixture(scope="module")
def folder(package: Mapping[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("net")
    for path, data in package.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_bytes(data)
    return made


def check(compiler: str, flags: list[str], *sources: Path) -> None:
    """The compiler prints no warning."""
    done = processes.run(
        [compiler, *flags, "-fsyntax-only", *sources], capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    assert not done.stderr


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("header", [1, 2, 3, 4, 5])
def test_compilers_find_nothing_to_warn_of(compiler: str, header: int, folder: Path) -> None:
    """With the headers of all versions, older ones than the model needs included."""
    flags = [*STRICT, f"-DCL_QCOM_ML_OPS_H_MAJOR_VERSION={header}", *INCLUDE, f"-I{folder}"]
    check(compiler, flags, folder / "net.c", folder / "net_clml.c", *sorted(CLML.glob("*.c")))


def test_headers_are_ones_of_cpp(folder: Path, tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("there is no C++ compiler: install g++")
    source = tmp_path / "use.cpp"
    source.write_text('#include "net.h"\n#include "clopt_clml.h"\n')
    check("g++", ["-std=c++11", *STRICT[1:], *INCLUDE, f"-I{folder}"], source)


def test_for_aarch64(folder: Path, tmp_path: Path) -> None:
    cross = "aarch64-linux-gnu-gcc"
    if not shutil.which(cross) or not Path("/usr/aarch64-linux-gnu/include/stdio.h").exists():
        pytest.skip("compiles for aarch64: install gcc-aarch64-linux-gnu, libc6-dev-arm64-cross")
    (tmp_path / "CL").mkdir()
    for header in Path("/usr/include/CL").glob("*.h"):
        (tmp_path / "CL" / header.name).symlink_to(header)
    parts = (folder, *(folder / part for part in ("clopt_runtime", "clopt_clml", "clml")))
    include = [f"-I{path}" for path in (*parts, tmp_path)]
    check(cross, [*STRICT, *include], *sorted(folder.rglob("*.c")))


def test_names_that_public_sources_do_not_have(folder: Path) -> None:
    """Macros make up for a header with other names."""
    (compiler, *_) = compilers()
    missing = ("CL_ACTIVATION_SIGMOID", "CL_ACTIVATION_TANH", "CL_SOFTMAX_MODE_SPATIAL_QCOM")
    hidden = [f"-D{name}=OTHER_{name}" for name in missing]  # the header's own names, too
    flags = [*STRICT, *hidden, *INCLUDE, f"-I{folder}"]
    renamed = {
        "CLOPT_CLML_ACTIVATION_SIGMOID": "CL_ACTIVATION_RELU",
        "CLOPT_CLML_ACTIVATION_TANH": "CL_ACTIVATION_RELU6",
        "CLOPT_CLML_SOFTMAX_OVER_CHANNELS": "CL_SOFTMAX_MODE_INSTANCE_QCOM",
    }
    words = [compiler, *flags, *(f"-D{name}={value}" for name, value in renamed.items()), "-E"]
    done = processes.run([*words, folder / "net_clml.c"], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    tables = done.stdout[done.stdout.index("tensors_clml_0") :]
    assert "SIGMOID" not in tables
    assert "CL_SOFTMAX_MODE_INSTANCE_QCOM" in tables
