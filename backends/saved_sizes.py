"""Saved models for ranges of sizes: a folder of `saved_model` with several programs.

program.mlir, 1/program.mlir...   the programs, each with its kernels and perhaps its fallback
sizes.json                        inputs, outputs, ranges, and the program for each set of sizes
sizes.npz                         the arrays that tell the programs the sizes, by their keys
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..compiled_model import CompiledModel
from ..errors import CloptError
from ..model_contents import module_of
from ..size_range import SizeRange
from ..size_table import Array, ServedSizes, SizeTable
from ..weights import Weights
from .launches import ports_as_json, ports_of_json
from .saved_model import WEIGHTS, Plans, SavedFiles, SavedPlan, save_model

TABLE = "sizes.json"
ARRAYS = "sizes.npz"


def save_ranged(folder: Path, table: SizeTable, programs: Sequence[CompiledModel]) -> None:
    """Write the programs of a table to `folder`, as `save_model` does."""
    weights = Weights()
    for each in programs:
        weights.adopt(each.weights)
    first, *others = map(_plans, programs)
    more = {TABLE: json.dumps(_as_json(table)).encode(), ARRAYS: _archive(table.arrays)}
    save_model(folder, first, weights, others, more)


@dataclass(frozen=True)
class SavedSizes:
    """What a folder holds for ranges of sizes."""

    table: SizeTable
    programs: Sequence[Callable[[], list[SavedPlan]]]
    """The programs of the table, which are parsed when they are needed."""
    weights: Weights


def load_sizes(folder: Path) -> SavedSizes | None:
    """Read a folder that `save_ranged` wrote; None if the model has fixed sizes."""
    saved = SavedFiles.of(folder)
    if TABLE not in saved.listed:
        return None
    text, archive = saved.read(TABLE), saved.read(ARRAYS)
    try:
        table = _of_json(json.loads(text), np.load(io.BytesIO(archive), allow_pickle=False))
    except (ValueError, LookupError, TypeError, zipfile.BadZipFile) as error:
        raise CloptError(f"{folder / TABLE} is damaged; compile the model again.") from error
    programs = [partial(saved.plans, saved.texts(i)) for i in range(table.programs)]
    return SavedSizes(table, programs, Weights.load(folder / WEIGHTS))


def _plans(program: CompiledModel) -> Plans:
    alternatives = (program, program.fallback)
    return [(module_of(each.program), each.source) for each in alternatives if each]


def _archive(arrays: Mapping[str, Array]) -> bytes:
    """Return arrays as a compressed file of numpy, from which each is read when it is needed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in sorted(arrays.items()):
            entry = zipfile.ZipInfo(f"{key}.npy")  # with a fixed date
            entry.compress_type = zipfile.ZIP_DEFLATED
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            archive.writestr(entry, content.getvalue())
    return file.getvalue()


def _as_json(table: SizeTable) -> dict[str, Any]:
    return {
        "inputs": ports_as_json(table.inputs),
        "outputs": ports_as_json(table.outputs),
        "ranges": {name: astuple(each) for name, each in table.ranges.items()},
        "rows": [[sizes, *astuple(row)] for sizes, row in table.rows.items()],
    }


def _of_json(parsed: dict[str, Any], arrays: Mapping[str, Array]) -> SizeTable:
    return SizeTable(
        ports_of_json(parsed["inputs"]),
        ports_of_json(parsed["outputs"]),
        {name: SizeRange(*numbers) for name, numbers in parsed["ranges"].items()},
        dict(_rows(parsed["rows"])),
        arrays,
    )


def _rows(rows: Sequence[Any]) -> Iterator[tuple[tuple[int, ...], ServedSizes]]:
    for sizes, program, value, shapes, keys in rows:
        known = None if shapes is None else tuple(tuple[int, ...](shape) for shape in shapes)
        yield tuple(sizes), ServedSizes(program, value, known, tuple(keys))
