"""The names of the package and the first look at a model."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

import clopt
from support import processes

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"


def test_every_public_name_is_there() -> None:
    assert {name: hasattr(clopt, name) for name in clopt.__all__} == dict.fromkeys(
        clopt.__all__, True
    )
    assert clopt.list_devices()[0].index == 0
    assert set(clopt.__all__) == set(dir(clopt)), "also after use, which imports modules"


def test_repr_tells_tensors_bytes_and_place() -> None:
    model = clopt.compile(DIGITS, dims={"batch": 1}, target="adreno-740")
    assert repr(model) == (
        "CompiledModel(image: 1x1x8x8 float32 -> logits: 1x10 float32; "
        f"{model.memory.total:,} bytes on the device; for adreno-740)"
    )
    device = clopt.list_devices()[0]
    model = clopt.compile(DIGITS, dims={"batch": 1}, device=device)
    assert repr(model).endswith(f", on {device.name} ({device.platform}))")


WITHOUT_METADATA = """
import importlib.metadata as metadata, sys
def version(name, installed=metadata.version):
    if name == "clopt":
        raise metadata.PackageNotFoundError(name)
    return installed(name)
metadata.version = version
import clopt
model = clopt.compile(sys.argv[1], dims={"batch": 1}, target="pocl")
model.save("saved")
model.save_c("c")
clopt.load("saved")
print(clopt.__version__)
"""


FROM_ARCHIVE = """
import sys
import clopt
from clopt.reports.memory.page import page
assert clopt.__file__.startswith(sys.argv[2]), clopt.__file__
model = clopt.compile(sys.argv[1], dims={"batch": 1}, target="adreno-740")
model.save("saved")
clopt.load("saved")
model = clopt.compile(sys.argv[1], dims={"batch": 1}, target="adreno-740 clml=prefer")
model.save_c("c", "net")
assert len(page(model.memory, "digits")) > 1000
from clopt.backends.clml.library import reference_library
reference_library()
"""


def test_works_from_a_zip_archive(tmp_path: Path) -> None:
    """Its own files are read where no path leads to them, and are the same."""
    root = Path(clopt.__file__).parent
    archive = tmp_path / "clopt.zip"
    kept = ("__pycache__", "tests", "lit_tests", "benchmarks", "build", ".venv", ".git")
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and not set(inside.parts) & set(kept):
                file.write(path, Path("clopt", inside))
    command = [sys.executable, "-c", FROM_ARCHIVE, str(DIGITS), str(archive)]
    environment = os.environ | {"PYTHONPATH": str(archive)}
    done = processes.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    model = clopt.compile(DIGITS, dims={"batch": 1}, target="adreno-740 clml=prefer")
    model.save_c(tmp_path / "usual", "net")
    ours, theirs = (
        {file.relative_to(at): file.read_bytes() for file in at.rglob("*") if file.is_file()}
        for at in (tmp_path / "usual", tmp_path / "c")
    )
    assert ours == theirs


def test_works_without_metadata(tmp_path: Path) -> None:
    """A checkout or an archive that was never installed has none."""
    command = [sys.executable, "-c", WITHOUT_METADATA, str(DIGITS)]
    done = processes.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{clopt.__version__}\n", "")
    assert json.loads((tmp_path / "saved" / "model.json").read_text())["clopt"] == clopt.__version__
