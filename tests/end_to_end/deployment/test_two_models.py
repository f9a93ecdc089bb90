"""Two models in one application share its queue and a buffer for their intermediate results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import clopt
from clopt.backends.pyopencl_runtime import find_device
from support.c import packaged_models as models
from support.c.compilers import compilers, link_objects, objects, run

MAIN = Path(__file__).parent / "two_models.c"


def test_one_queue_and_one_arena(device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    """Interleaved without a wait, both models give the same bits as alone."""
    files = [*runtime]
    for name, batch in (("first", 1), ("second", 3)):
        model = clopt.compile(models.DIGITS, dims={"batch": batch}, device=device)
        model.save_c(tmp_path / name, name)
        sources = [tmp_path / name / f"{name}.c", tmp_path / name / f"{name}_kernels.c"]
        files += objects(compilers()[0], sources, tmp_path / name)
    include = [tmp_path / "first", tmp_path / "second"]
    files += objects(compilers()[0], [MAIN], tmp_path, *include)
    program = link_objects(files, tmp_path / "two_models")
    weights = [tmp_path / name / "weights.bin" for name in ("first", "second")]
    printed = run(program, find_device(device).platform, *weights, "20")
    found = re.fullmatch(r"(\d+) (\d+) differ; arenas (\d+) (\d+); first value (\S+)\n", printed)
    assert found, printed
    assert found.group(1, 2) == ("0", "0")
    assert 0 < int(found[3]) < int(found[4])
    assert float(found[5]) != 0
