"""The cases of ONNX's backend test suite as small files that workers can load."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")


@dataclass(frozen=True)
class Case:
    """One test: a serialised model with sets of inputs and expected outputs."""

    name: str
    kind: str
    operator: str
    model: bytes
    data: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float


def _plain(value: Any) -> Any:
    """Return a test's datum as arrays, lists of arrays, or None."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None else np.asarray(value)


def _read(path: Path, kind: onnx.TypeProto) -> Any:
    readers = {
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
        "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
    }
    default = (onnx.TensorProto, numpy_helper.to_array)
    message, convert = readers.get(kind.WhichOneof("value") or "", default)
    proto = message()
    proto.ParseFromString(path.read_bytes())
    return _plain(convert(proto))


def _read_folder(folder: Path, model: onnx.ModelProto) -> list[tuple[list[Any], list[Any]]]:
    sets: list[tuple[list[Any], list[Any]]] = []
    for part in sorted(folder.glob("test_data_set_*")):
        row: list[list[Any]] = []
        for stem, values in (("input", model.graph.input), ("output", model.graph.output)):
            paths = [part / f"{stem}_{i}.pb" for i in range(len(values))]
            row.append([_read(p, v.type) for p, v in zip(paths, values, strict=True) if p.exists()])
        sets.append((row[0], row[1]))
    return sets


def _operator(name: str, model: onnx.ModelProto) -> str:
    """Return the operator that a case tests: its only one, or the one in its name."""
    kinds = sorted({n.op_type for n in model.graph.node if n.op_type != "Constant"})
    if len(kinds) == 1:
        return kinds[0]
    flat = name.lower().replace("_", "")
    named = [k for k in kinds if k.lower() in flat]
    return max(named, key=len) if named else "(several)"


def load_cases(expanded: bool = False) -> Iterator[Case]:
    """Return every case of the installed `onnx` package, except the light copies of real models."""
    from onnx.backend.test.loader import load_model_tests

    for kind in KINDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tests = load_model_tests(kind=kind)
        for test in sorted(tests, key=lambda t: t.name):
            if "_expanded" in test.name and not expanded:
                continue
            if test.model is not None:
                model, sets = test.model, test.data_sets or ()
                data = [([_plain(x) for x in i], [_plain(x) for x in o]) for i, o in sets]
            else:
                assert test.model_dir is not None
                model = onnx.load(Path(test.model_dir) / "model.onnx")
                data = _read_folder(Path(test.model_dir), model)
            operator = _operator(test.name, model)
            yield Case(
                test.name,
                kind,
                operator,
                model.SerializeToString(),
                data,
                test.rtol,
                test.atol,
            )


def materialise(folder: Path, expanded: bool = False) -> list[Path]:
    """Write every case into `folder` unless a complete set is there; list the files."""
    done = folder / "complete"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for case in load_cases(expanded):
            (folder / f"{case.kind}-{case.name}.pkl").write_bytes(pickle.dumps(case))
        done.touch()
    return sorted(folder.glob("*.pkl"))


def load(path: Path) -> Case:
    """Read one case back."""
    return pickle.loads(path.read_bytes())
