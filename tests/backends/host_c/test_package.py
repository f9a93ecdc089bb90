"""The files of a C package, read as text."""

from __future__ import annotations

import json
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt import CloptError
from clopt.backends.host_c import model_name, package_files, write_package
from clopt.backends.host_c.plans import make_plan
from clopt.backends.host_c.tables import RootKind
from clopt.backends.host_c.weights_file import gather
from clopt.files.folders import digest
from clopt.tools import compile
from clopt.weights import Weights
from support.cl.programs import ADD, KERNELS, PROGRAM, WEIGHT, parse

ROOT = Path(__file__).parents[3]
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")

PLANNED = """
cl.kernel @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) outputs [2] global [4] local [2]
cl.program @main(%x: memref<8xf32> {{cl.name = "x"}},
                 %y: memref<4xf32> {{cl.name = "the sum */"}}) inputs 1 {{
  %arena = cl.arena : memref<512xi8>
  %w = cl.constant "{key}" : memref<4xf32>
  %t = cl.buffer_view %arena[128] : memref<8xf32>
  %u = cl.buffer_view %arena[128] : memref<8xf32>
  %half = cl.view %t[16] : memref<8xf32> to memref<4xf32>
  cl.enqueue_copy %x, %t : memref<8xf32>
  cl.enqueue_kernel @add(%half, %w, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  cl.enqueue_copy %x, %u : memref<8xf32>
  cl.return
}}
"""


def texts(program: str, name: str = "small") -> dict[str, str]:
    """The text files of the package of a program written by hand."""
    weights = Weights()
    module = parse(program.format(key=weights.add(WEIGHT, "the weight")))
    files = package_files(module, KERNELS, weights, name)
    return {path: data.decode() for path, data in files.items() if not path.endswith(".bin")}


def test_files() -> None:
    files = texts(PLANNED)
    own = {"small.h", "small.c", "small_kernels.c", "kernels.cl", "main.c", "CMakeLists.txt"}
    runtime = {path for path in files if path.startswith("clopt_runtime/")}
    assert own | runtime | {"README.md", "package.json"} == files.keys()
    assert {"clopt_runtime/clopt_runtime.h", "clopt_runtime/clopt_runtime.c"} < runtime
    for path in runtime:
        assert path in files["CMakeLists.txt"] or path.endswith(".h")
    description = json.loads(files["package.json"])
    assert [*description["files"]] == sorted({*files, "weights.bin"} - {"package.json"})
    assert description["arenas"] == [512]
    assert files["kernels.cl"] == KERNELS
    assert not re.search(r"@\w+@", "".join(files.values()))  # templates are filled
    for path in ("small.c", "small.h", "main.c", *runtime):
        assert max(map(len, files[path].splitlines())) <= 100, path


@pytest.mark.parametrize("separators", ["[]", "[1]"])
def test_an_empty_constant_image_has_a_texel_of_weights(separators: str) -> None:
    """The runtime fills the root's bytes from the weights file."""
    weights = Weights()
    type_ = f"memref<0x3x4xf32, #tir.scope<texture, {separators}>>"
    key = weights.add(np.zeros((0, 3, 4), np.float32), "w")
    text = f"""
cl.kernel @read({type_}, memref<4xf32>) outputs [1] global [4] local [2]
cl.program @main(%y: memref<4xf32> {{cl.name = "y"}}) inputs 0 {{
  %w = cl.constant "{key}" : {type_}
  cl.enqueue_kernel @read(%w, %y) : {type_}, memref<4xf32>
  cl.return
}}
"""
    plan = make_plan(parse(text), KERNELS, weights)
    constants = gather(weights, plan.keys)
    (root,) = (root for root in plan.tables.roots if root.kind is RootKind.Constant)
    assert root.bytes == 16
    assert constants.offsets[key] + root.bytes <= constants.file_bytes


def test_tables() -> None:
    text = re.sub(r"\s+", " ", texts(PLANNED)["small.c"])
    assert "[root_arena] = {.kind = CLOPT_ARENA, .bytes = 512}" in text
    assert "[root_w] = {.kind = CLOPT_CONSTANT, .bytes = 16, .weights_offset = 64}" in text
    assert '[slot_t] = {.name = "t", .root = root_arena, .offset = 128, .bytes = 32}' in text
    assert '{.name = "half", .root = root_arena, .offset = 144, .bytes = 16}' in text
    launch = text[text.index("{.kind = CLOPT_LAUNCH") :]
    assert ".global = {4, 1, 1}, .local = {2, 1, 1}, " in launch
    assert "{slot_half, slot_w, slot_the_sum}}, " in launch
    # Two values at the same place are one slot with two names.
    slots = dict(re.findall(r"slot_(\w+) = (\d+),", text))
    assert slots["t"] == slots["u"] != slots["half"]


def test_names_of_tensors_end_no_comment_and_no_string() -> None:
    files = texts(PLANNED)
    assert "SMALL_OUTPUT_THE_SUM = 1, /* the sum * /: float32 4 */" in files["small.h"]
    assert '.name = "the sum */"' in files["small.c"]


def test_weights_file() -> None:
    weights = Weights()
    key = weights.add(WEIGHT, "w")
    other = weights.add(np.arange(3, dtype=np.int8))
    text = PROGRAM.format(key=key).replace(
        "%t =", f'%v9 = cl.constant "{other}" : memref<3xi8>\n%t ='
    )
    data = package_files(parse(text), KERNELS, weights, "small")["weights.bin"]
    magic, version, alignment, size, crc, zero = struct.unpack_from("<8sIIQII", data)
    assert (magic, version, alignment, size, zero) == (b"CLOPTWTS", 1, 64, len(data), 0)
    assert crc == zlib.crc32(data[64:])
    assert data[64:80] == WEIGHT.tobytes()
    assert data[128:] == bytes([0, 1, 2])


def test_sources_and_weights_belong_together() -> None:
    """The digest changes with the weights, the program and the kernels, and with nothing else."""

    def digest(program: str, kernels: str, weight: np.ndarray) -> bytes:
        weights = Weights()
        module = parse(program.format(key=weights.add(weight)))
        files = package_files(module, kernels, weights, "small")
        found = bytes.fromhex("".join(re.findall(r"0x(\w\w)", files["small.c"].decode())))
        assert files["weights.bin"][32:48] == found
        return found

    first = digest(PROGRAM, KERNELS, WEIGHT)
    assert first == digest(PROGRAM, KERNELS, WEIGHT)
    assert first != digest(PROGRAM, KERNELS, -WEIGHT)
    assert first != digest(PROGRAM, KERNELS + "// more\n", WEIGHT)
    assert first != digest(PROGRAM.replace("local [2]", "local [1]"), KERNELS, WEIGHT)


def test_a_kernel_is_a_program_of_its_own() -> None:
    weights = Weights()
    module = parse(ADD.format(key=weights.add(WEIGHT)))
    model = clopt.compile(module, target="generic", weights=weights)
    files = package_files(model.module, model.source, weights, "add")
    assert files["kernels.cl"].decode() == model.source
    lines = re.findall(r'(?m)^    "(.*)\\n",$', files["add_kernels.c"].decode())
    assert lines == model.source.strip("\n").split("\n")


def test_saved_models_give_the_same_package(tmp_path: Path) -> None:
    model = clopt.compile(DIGITS, target="adreno-740", dims={"batch": 1}, texture="prefer")
    model.save_c(tmp_path / "first", "digits")
    model.save(tmp_path / "saved")
    clopt.load(tmp_path / "saved", device="0").save_c(tmp_path / "second", "digits")
    names = json.loads((tmp_path / "first" / "package.json").read_text())["files"]
    assert "digits.c" in names
    for name in names:
        first, second = tmp_path / "first" / name, tmp_path / "second" / name
        assert first.read_bytes() == second.read_bytes(), name


def test_programs_are_planned_first(tmp_path: Path) -> None:
    weights = Weights()
    model = clopt.compile(
        parse(PROGRAM.format(key=weights.add(WEIGHT))), "generic", weights=weights
    )
    model._source = KERNELS
    model.save_c(tmp_path / "small")
    assert json.loads((tmp_path / "small" / "package.json").read_text())["arenas"] == [16]


@pytest.mark.parametrize("name", ["2nd", "a-b", "", "main", "clopt_x", "größe", "test"])
def test_names_that_c_does_not_allow(name: str, tmp_path: Path) -> None:
    with pytest.raises(CloptError, match="name"):
        texts(PLANNED, name)


def test_names_of_files_become_names() -> None:
    assert model_name("mobilenet_v2") == "mobilenet_v2"
    assert model_name("squeezenet1.1-7") == "squeezenet1_1_7"
    assert model_name("3d net") == "model_3d_net"
    assert model_name("main") == "model_main"


def test_what_a_folder_holds_is_not_lost(tmp_path: Path) -> None:
    package = tmp_path / "package"
    listed = {"a.c": digest(b"1"), "b/c.h": digest(b"2")}
    description = json.dumps({"files": listed}).encode()
    write_package(package, {"a.c": b"1", "b/c.h": b"2", "package.json": description})
    (package / "a.c").write_text("changed by its user")
    with pytest.raises(CloptError, match=r"a\.c has changed since clopt wrote it"):
        write_package(package, {})
    (package / "a.c").write_text("1")
    write_package(package, {"z.c": b"3"})
    assert [path.name for path in package.iterdir()] == ["z.c"]
    with pytest.raises(CloptError, match="is no C package of clopt"):
        write_package(package, {})


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [DIGITS, "--dim", "batch=1", "--target", "generic", "-o", str(tmp_path / "out")]
    compile.main([*words, "--emit=c"])
    assert (tmp_path / "out" / "digits.h").exists()
    compile.main([*words, "--emit=c", "--name", "reader"])
    assert "reader_create" in (tmp_path / "out" / "reader.h").read_text()
    assert not (tmp_path / "out" / "digits.h").exists()
    capsys.readouterr()
    for wrong in (["--name", "reader"], ["--emit=c", "--name", "a b"]):
        with pytest.raises(SystemExit):
            compile.main([*words, *wrong])
        assert "name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "needs"),
    [
        ("adreno-740 texture=off", "CLOPT_NEEDS_FP16"),
        ("adreno-740 texture=prefer", "CLOPT_NEEDS_FP16 | CLOPT_NEEDS_IMAGES"),
        ("adreno-740 texture=off fp16=false", "0"),
        ("adreno-740 texture=prefer fp16=false read_imageh=false", "CLOPT_NEEDS_IMAGES"),
    ],
)
def test_needs_of_a_device(target: str, needs: str) -> None:
    """The kernel stores halves as it loads them. The names of the tensors ask for nothing."""
    module = parse("""
      func.func @main(%half: tensor<4x6xf16> {nn.name = "half"})
          -> (tensor<6x4xf16> {nn.name = "double"}) {
        %double = nn.transpose %half {perm = array<i64: 1, 0>}
          : (tensor<4x6xf16>) -> tensor<6x4xf16>
        func.return %double : tensor<6x4xf16>
      }
    """)
    model = clopt.compile(module, target=target)
    files = package_files(model.module, model.source, Weights(), "moved")
    assert f"  .needs = {needs},\n" in files["moved.c"].decode()
