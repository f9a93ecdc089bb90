"""The accelerator of docs/add-an-accelerator.md, in a package that is built from the page alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "add-an-accelerator.md"
BLOCK = re.compile(r"```\w+\n# (\S+)\n(.*?)```", re.S)

# What the page says beside its example. Each name is one of `use.py`.
CHECKS = """
import sys
from pathlib import Path

from clopt.backends.pyopencl_runtime import CExecutable

expected = np.maximum(x @ v, 0) @ w

def check(executable):
    (y,) = executable.run([x])
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)

text = str(model.module)
assert text.count("cl.enqueue_offload @toy_") == 2, text
assert model.memory.graph_weights == v.nbytes + w.nbytes
model.save(sys.argv[1])
loaded = clopt.load(sys.argv[1], device=0)
assert loaded.source == model.source
check(loaded)
check(CExecutable(model.module, model.weights, 0))
fast, slow = (
    clopt.compile(network, device=0, toy="auto", toy_mads_per_nanosecond=rate, explain=True)
    for rate in (1e6, 1e-6)
)
check(fast)
assert (fast.plan, slow.plan) == ("Toy", "kernels")
try:
    clopt.compile(network, device=0, toy="always")
except clopt.CloptError as error:
    print(error)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with the files of the page, installed as pip would leave them."""
    files = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    project = tomllib.loads(files["pyproject.toml"])["project"]
    info = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines: list[str] = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return tmp_path


def test_an_accelerator_out_of_tree(package: Path):
    script = package / "use.py"
    script.write_text(script.read_text() + CHECKS)
    known = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join([str(package), str(ROOT.parent), known]).rstrip(os.pathsep)
    done = subprocess.run(
        [sys.executable, script, package / "saved"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    (shown,) = re.findall(r"prints `(.*?)`", PAGE.read_text(encoding="utf-8"))
    assert done.stdout == f'{shown}\ntoy is "off" or "auto" or "prefer", not "always".\n'
    assert re.search(r"toy_0 +toy\.product", done.stderr)
    assert "the toy multiplies matrices only" in done.stderr
