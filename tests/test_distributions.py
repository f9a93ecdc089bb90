"""The sdist and the wheel that `python -m build` makes hold the package alone, and work."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

from support import processes

REPOSITORY = Path(__file__).parents[1]
SUFFIXES = (".py", ".toml", ".cl", ".h", ".c", ".in", ".html", ".css", ".js", ".txt", ".jsonl")
AROUND = {
    *("pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in"),
    *("README.md", "LICENSE", "PKG-INFO"),
}


def run(command: list[str | Path], folder: Path) -> str:
    """Run a command in a folder, without a path to modules. Return what it prints."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = processes.run(
        command, cwd=folder, env=env, capture_output=True, text=True, errors="replace"
    )
    assert not done.returncode, done.stderr
    return done.stdout


def package_files() -> set[str]:
    """Return the files of the repository that belong to the package: code and its data."""
    rooms = [path.parent for path in REPOSITORY.glob("*/__init__.py")]
    modules = [path for path in REPOSITORY.glob("*.py") if path.name != "setup.py"]
    data = [path for room in rooms for path in room.rglob("*") if path.suffix in SUFFIXES]
    paths = [*modules, *data, REPOSITORY / "py.typed"]
    return {path.relative_to(REPOSITORY).as_posix() for path in paths}


def test_a_wheel_made_of_the_sdist_works_alone(tmp_path: Path) -> None:
    sources, built, fresh = tmp_path / "sources", tmp_path / "dist", tmp_path / "fresh"
    left = shutil.ignore_patterns(
        ".*", "build", "dist", "out", "*.egg-info", "__pycache__", "lit_tests"
    )
    shutil.copytree(REPOSITORY, sources, ignore=left)
    run([sys.executable, "-m", "build", "--no-isolation", "-o", built, "."], sources)
    (sdist,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")

    with tarfile.open(sdist) as archive:
        files = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert {name for name in files if "egg-info" not in name} == package_files() | AROUND
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == {f"clopt/{name}" for name in package_files()}

    run([sys.executable, "-m", "venv", "--without-pip", fresh], tmp_path)
    python = fresh / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    run([*pip, "--no-deps", "--no-index", wheel], tmp_path)
    (places,) = fresh.glob("lib/python*/site-packages")
    (places / "tests.pth").write_text(sysconfig.get_path("purelib"))  # what clopt depends on
    where = run([python, "-c", "import clopt; print(clopt.__file__)"], tmp_path)
    assert Path(where.strip()) == places / "clopt" / "__init__.py"

    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"&& \.venv/bin/python (\S+)\n", readme)
    printed = run([python, REPOSITORY / script], tmp_path)
    (right, images) = map(int, re.findall(r"\((\d+) of (\d+) held-out images\)", printed)[0])
    assert right >= 0.98 * images > 100
    model = REPOSITORY / "examples" / "digits" / "digits.onnx"
    printed = run([fresh / "bin" / "clopt-run", model, "--dim", "batch=1", "--check"], tmp_path)
    assert "is supported" in printed
