"""Follow pages of the documentation, block by block, in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from support import packages, processes

BLOCK = re.compile(
    r"(?P<skip><!-- not run: .*? -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
FILE = re.compile(r"(?:#|//) (\S+\.\w+)\n(.*)", re.S)
INSTALL = re.compile(r"pip install -e (\S+)\n")


def follow(page: Path, folder: Path, replaced: Mapping[str, str] | None = None) -> None:
    """Write the files of a page into `folder`, run its commands and compare their output.

    A block whose first line is a comment with a name is a file. Other blocks go by their kind: `sh`
    holds commands, `console` commands with all that they print, `python` a script. The rest is only
    shown, like blocks below a comment `<!-- not run: reason -->`. In place of `pip install -e
    PATH` the metadata is written that pip would leave. `replaced` maps texts of the page to those
    that stand for them in a test.
    """
    content = page.read_text(encoding="utf-8")
    for shown, run_instead in (replaced or {}).items():
        assert shown in content, shown
        content = content.replace(shown, run_instead)
    paths = [folder]
    for match in BLOCK.finditer(content):
        kind, text = match["kind"], match["text"]
        file = FILE.fullmatch(text)
        if match["skip"]:
            continue
        if file:
            (folder / file[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / file[1]).write_text(file[2], encoding="utf-8")
        elif install := INSTALL.fullmatch(text):
            paths.append(folder / install[1])
            packages.register(paths[-1] / "pyproject.toml", folder)
        elif kind == "sh":
            run(["bash", "-ec", text], folder, paths)
        elif kind == "python":
            run([sys.executable, "-c", text], folder, paths)
        elif kind == "console":
            for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
                assert run(["bash", "-ec", command], folder, paths) == shown, command


def run(command: list[str], folder: Path, paths: Sequence[Path]) -> str:
    """Run a command in `folder` with the packages of `paths`. Return what it prints."""
    scripts = Path(sys.executable).parent
    known = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join([*map(str, paths), known]).rstrip(os.pathsep)
    env = {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path}
    done = processes.run(
        command, cwd=folder, env=os.environ | env, capture_output=True, text=True, timeout=200
    )
    assert not done.returncode, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout
