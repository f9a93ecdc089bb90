"""Packages that extend clopt, built from the blocks of a page of the documentation."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

from support import processes

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```\w+\n# (\S+)\n(.*?)```", re.S)


def install(page: Path, folder: Path) -> Path:
    """Write the files that a page shows into `folder`, with the metadata that pip would leave."""
    write_blocks(page, folder)
    register(folder / "pyproject.toml", folder)
    return folder


def register(project_file: Path, folder: Path) -> None:
    """Write the metadata into `folder` that pip would leave for a project."""
    project = tomllib.loads(project_file.read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines: list[str] = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))


def write_blocks(page: Path, folder: Path) -> None:
    """Write the files that a page shows into `folder`."""
    for name, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run_script(package: Path, script: str, *arguments: str | Path) -> str:
    """Run a script with the package installed. Return its output; the errors where it fails."""
    known = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join([str(package), str(ROOT.parent), known]).rstrip(os.pathsep)
    done = processes.run(
        [sys.executable, package / script, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    return done.stdout + done.stderr
