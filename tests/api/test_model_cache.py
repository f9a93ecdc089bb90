"""The cache of compiled models: what is a hit, what is a miss, and files that cannot be trusted."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt import compilation, compiled_cache
from clopt.backends.model_cache import revision, store
from clopt.backends.pyopencl_runtime import find_device, identity, target_for
from support import processes

WIDTH = 300  # of the weights: large enough to lie in a file of their own


def write_model(path: Path, factor: float = 1.0, external: bool = False) -> Path:
    """A product with weights and a bias, of a batch with a symbolic size."""
    rng = np.random.default_rng(0)
    weights = {
        "w": factor * rng.standard_normal((WIDTH, 8)).astype(np.float32),
        "b": rng.standard_normal(8).astype(np.float32),
    }
    tensors = [numpy_helper.from_array(a.astype(np.float32), k) for k, a in weights.items()]
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", WIDTH])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", 8])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options: dict[str, Any] = {}
    if external:
        options = {"save_as_external_data": True, "location": "data.bin", "size_threshold": 0}
    onnx.save(model, path, **options)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model.onnx")


X = np.random.default_rng(1).standard_normal((2, WIDTH)).astype(np.float32)


def run(model: object, device: str, **options: Any) -> np.ndarray:
    options = {"dims": {"n": 2}} | options
    return clopt.compile(model, device=device, **options).run([X])[0]  # type: ignore[arg-type]


def files(tmp_path: Path, suffix: str) -> list[Path]:
    return sorted((tmp_path / "cache" / "clopt" / "models").glob(f"*{suffix}"))


def test_a_second_start_compiles_nothing_and_computes_the_same(
    compilations: list[object], model: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compiled_cache.CHOICE, "off")
    expected = run(model, device)
    monkeypatch.setenv(compiled_cache.CHOICE, "auto")
    first = run(model, device)
    assert len(compilations) == 2
    for content in (model, str(model), model.read_bytes()):
        np.testing.assert_array_equal(run(content, device), first)
    np.testing.assert_array_equal(first, expected)
    assert len(compilations) == 2


def test_everything_of_a_model_works_on_a_hit(
    compilations: list[object], model: Path, device: str, tmp_path: Path
) -> None:
    compiled = clopt.compile(model, device=device, dims={"n": 2})
    found = clopt.compile(model, device=device, dims={"n": 2})
    assert len(compilations) == 1
    for name in ("inputs", "outputs", "source", "plan", "plan_reason", "remarks", "target_name"):
        assert getattr(found, name) == getattr(compiled, name), name
    assert repr(found) == repr(compiled)
    assert found.memory.total == compiled.memory.total
    assert {key: found.weights.hint(key) for key in found.weights.keys()} == {
        key: compiled.weights.hint(key) for key in compiled.weights.keys()
    }
    found.save(tmp_path / "saved")
    compiled.save(tmp_path / "too")
    for name in ("program.mlir", "kernels.cl", "weights.safetensors"):
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "too" / name).read_bytes()
    np.testing.assert_array_equal(
        clopt.load(tmp_path / "saved", device=device).run([X])[0], compiled.run([X])[0]
    )
    assert len(compilations) == 1
    profiles = [each.profile([X], 1) for each in (compiled, found)]
    rows = [[(row.name, row.node, row.work) for row in profile.rows] for profile in profiles]
    assert rows[0] == rows[1]
    assert str(found.module) == str(compiled.module)
    assert len(compilations) == 2


MISSES: dict[str, Callable[[pytest.MonkeyPatch, Path], dict[str, Any]]] = {
    "dims": lambda patch, folder: {"dims": {"n": np.int64(3).item()}},
    "precision": lambda patch, folder: {"precision": "f16-storage"},
    "memory limit": lambda patch, folder: {"memory_limit": 1 << 30},
    "fact": lambda patch, folder: {"bandwidth": 19.0},
    "target": lambda patch, folder: {"target": "generic"},
    "rounded scales": lambda patch, folder: {"quantize": clopt.Quantization(round_scales=True)},
    "quantization": lambda patch, folder: {"quantize": "int8"},
    "choices": lambda patch, folder: {"choices": write(folder / "choices", "clopt-choices 1\n")},
    "database": lambda patch, folder: {"tuning": write(folder / "d.jsonl", "")},
    "database beside": lambda patch, folder: beside(patch, folder),
    "environment": lambda patch, folder: patch.setenv("CLOPT_CALIBRATION", "auto") or {},
    "revision": lambda patch, folder: (
        patch.setattr(compiled_cache, "revision", lambda: ("other",)) or {}
    ),
    "device": lambda patch, folder: (
        patch.setattr(compiled_cache, "identity_of", lambda _: ("other",)) or {}
    ),
    "content": lambda patch, folder: write_model(folder / "model.onnx", 2) and {},
}


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def beside(patch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    patch.setenv("CLOPT_TUNING", "auto")
    return {}


@pytest.mark.parametrize("name", MISSES)
def test_each_component_of_the_key_makes_a_miss(
    compilations: list[object],
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str,
) -> None:
    request_of(model)
    (before,) = files(tmp_path, ".bin") or [None]
    options = MISSES[name](monkeypatch, tmp_path)
    monkeypatch.setattr("clopt.backends.pyopencl_runtime.calibration._ON_FIRST_USE", ())
    request_of(model, **options)
    assert len(compilations) == 2
    assert len(files(tmp_path, ".bin")) == 2, before


def request_of(model: Path, **options: Any) -> None:
    clopt.compile(model, device=0, **({"dims": {"n": 2}} | options))


def test_tuning_databases_count_by_content(
    compilations: list[object], model: Path, tmp_path: Path
) -> None:
    database = write(tmp_path / "d.jsonl", "")
    for text, count in (("", 1), ("", 1), ("\n", 2), ("", 2)):
        database.write_text(text)
        request_of(model, tuning=database)
        assert len(compilations) == count


def test_files_with_external_data_count(compilations: list[object], tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.onnx", external=True)
    reference = run(path, "0")
    data = tmp_path / "data.bin"
    content = bytearray(data.read_bytes())
    assert len(content) >= 4 * WIDTH * 8
    np.testing.assert_array_equal(run(path, "0"), reference)
    assert len(compilations) == 1
    content[3] ^= 0x80  # the sign of the first weight
    data.write_bytes(content)
    assert not np.array_equal(run(path, "0"), reference)
    assert len(compilations) == 2


def test_options_without_a_key_are_compiled_each_time(
    compilations: list[object], model: Path, tmp_path: Path
) -> None:
    target = write(tmp_path / "mine.toml", 'base = "generic"')
    for count, options in enumerate(
        [{"explain": True}, {"use_cache": False}, {"target": target}, {"target": str(target)}], 1
    ):
        request_of(model, **options)
        assert len(compilations) == count
    assert not files(tmp_path, "")


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "changed": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "one bit": lambda content: content[:9] + bytes([content[9] ^ 1]) + content[10:],
    "exchanged": lambda content: content[len(content) // 2 :] + content[: len(content) // 2],
    "longer": lambda content: content + b"\0",
    "foreign": lambda content: b"something else",
}


@pytest.mark.parametrize("suffix", [".bin", ".weights"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_made_again(
    compilations: list[object], model: Path, tmp_path: Path, suffix: str, damage: str
) -> None:
    expected = run(model, "0")
    (file,) = files(tmp_path, suffix)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(DAMAGES[damage](file.read_bytes()))
    damaged.replace(file)
    np.testing.assert_array_equal(run(model, "0"), expected)
    np.testing.assert_array_equal(run(model, "0"), expected)
    assert len(compilations) == 2


@pytest.mark.parametrize("suffix", [".bin", ".weights"])
def test_files_that_are_gone_or_open_to_others_are_made_again(
    compilations: list[object], model: Path, tmp_path: Path, suffix: str
) -> None:
    expected = run(model, "0")
    files(tmp_path, suffix)[0].unlink()
    np.testing.assert_array_equal(run(model, "0"), expected)
    assert len(compilations) == 2
    files(tmp_path, suffix)[0].chmod(0o666)
    np.testing.assert_array_equal(run(model, "0"), expected)
    assert len(compilations) == 3
    np.testing.assert_array_equal(run(model, "0"), expected)
    assert len(compilations) == 3


def test_threads_and_a_folder_that_cannot_be_written(
    compilations: list[object], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(model, "0")
    files(tmp_path, ".bin")[0].unlink()
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(run(model, "0"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for result in results:
        np.testing.assert_array_equal(result, expected)
    assert len(results) == 4
    assert not files(tmp_path, ".tmp")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_write", full)
    np.testing.assert_array_equal(run(model, "0", dims={"n": 2}, bandwidth=18.0), expected)


def test_models_used_longest_ago_are_forgotten(
    compilations: list[object], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(model, "0")
    size = sum(file.stat().st_size for file in files(tmp_path, ""))
    for file in files(tmp_path, ""):
        if file.is_file():
            os.utime(file, (1, 1))
    monkeypatch.setattr(store, "MOST_BYTES", 2 * size)
    run(write_model(tmp_path / "other.onnx", 2), "0")
    run(write_model(tmp_path / "third.onnx", 3), "0")
    kept = [file for file in files(tmp_path, "") if file.is_file()]
    assert 0 < sum(file.stat().st_size for file in kept) <= 2 * size
    run(tmp_path / "third.onnx", "0")
    assert len(compilations) == 3
    run(model, "0")
    assert len(compilations) == 4


def test_a_model_that_changes_while_it_is_compiled_is_not_kept(
    compilations: list[object], model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compile_model = compilation.compile_model

    def change(*args: Any, **options: Any) -> clopt.CompiledModel:
        compiled = compile_model(*args, **options)
        write_model(model, 2)
        return compiled

    monkeypatch.setattr(compilation, "compile_model", change)
    request_of(model)
    assert not files(tmp_path, ".bin")


def test_sources_that_change_after_the_import_keep_nothing(
    compilations: list[object], model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiled_cache, "is_revision_settled", revision.is_revision_settled)
    monkeypatch.setattr(revision, "IMPORTED_NS", 0)
    request_of(model)
    assert not files(tmp_path, ".bin")


def test_the_key_has_all_that_a_target_reads_of_a_device(device: str) -> None:
    live = find_device(device)
    read: set[str] = set()

    class Handle:
        def __getattr__(self, name: str) -> object:
            read.add(name)
            return getattr(live.handle, name)

    asked = target_for(dataclasses.replace(live, handle=Handle()))  # type: ignore[arg-type]
    assert asked == target_for(live)
    # These are in `device_facts`, and one is its number in pyopencl.
    others = {"platform", "version", "int_ptr"}
    assert {"extensions", "max_compute_units"} <= read <= {*identity.ANSWERS, *others}


def test_a_second_start_loads_neither_xdsl_nor_onnx(
    compilations: list[object], model: Path, tmp_path: Path
) -> None:
    run_it = (
        "import sys; from clopt.tools.run import main; main(sys.argv[1:]); "
        "print('loaded', *{m.split('.')[0] for m in sys.modules})"
    )
    command = [sys.executable, "-c", run_it, str(model), "--dim", "n=2", "--device", "0"]
    outputs = [
        processes.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
        for _ in range(2)
    ]
    shown = [output.partition("loaded ")[0] for output in outputs]
    loaded = [set(output.partition("loaded ")[2].split()) for output in outputs]
    assert shown[0] == shown[1]
    assert {"xdsl", "onnx"} <= loaded[0]
    assert not {"xdsl", "onnx"} & loaded[1]
