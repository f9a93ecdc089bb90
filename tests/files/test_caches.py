"""What clopt keeps between processes: where, and what of it is trusted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.pyopencl_runtime import environment
from clopt.errors import CloptWarning
from clopt.files import caches
from support import processes
from support.onnx import models

RUN = """
import json, sys
import numpy as np
import clopt
found = []
for device in clopt.list_devices():
    (y,) = clopt.compile(sys.argv[1], device=device).run([np.ones((2, 8), np.float32)])
    found.append([device.platform, y.ravel().tolist()])
print(json.dumps(found))
"""

# Not even root can write to /proc.
UNWRITABLE = {
    "read-only home": {"HOME": "/proc"},
    "home that is nowhere": {"HOME": "/proc/nobody"},
    "no home": {"HOME": None, "XDG_CACHE_HOME": "/proc/cache"},
    "read-only cache": {"XDG_CACHE_HOME": "/proc"},
    "no temporary folder": {"HOME": "/proc", "TMPDIR": "/proc"},
}
ALIKE = ("home that is nowhere", "read-only cache")
"""As `read-only home`, by the same way through our code."""
PLACES = [
    pytest.param(place, marks=pytest.mark.long if place in ALIKE else ()) for place in UNWRITABLE
]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small kernel: all that these tests need."""
    path = tmp_path_factory.mktemp("network") / "network.onnx"
    onnx.save(models.model("float[2,8] x", "y = Softmax(x)"), path)
    return path


def run(
    code: str, network: Path, changes: dict[str, str | None], cwd: Path
) -> subprocess.CompletedProcess[str]:
    # What this process has set for its own runtimes is not inherited.
    ours = ("OCL_ICD_VENDORS", "POCL_CACHE_DIR", "PYOPENCL_NO_CACHE", "XDG_CACHE_HOME")
    environment = {k: v for k, v in os.environ.items() if k not in ours}
    environment |= {k: v for k, v in changes.items() if v is not None}
    for name in (name for name, value in changes.items() if value is None):
        environment.pop(name, None)
    return processes.run(
        [sys.executable, "-c", code, str(network)],
        env=environment, cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def usual(network: Path) -> list[object]:
    """What this process, which can store files, computes without a word."""
    x = np.ones((2, 8), np.float32)
    with warnings.catch_warnings(action="error", category=CloptWarning):
        return [
            [each.platform, clopt.compile(network, device=each).run([x])[0].ravel().tolist()]
            for each in clopt.list_devices()
        ]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="uses Linux' /proc as a read-only folder")
@pytest.mark.parametrize("place", PLACES)
def test_every_device_runs_where_nothing_can_be_kept(
    place: str, usual: list[object], network: Path, tmp_path: Path
) -> None:
    done = run(RUN, network, UNWRITABLE[place], tmp_path)
    assert json.loads(done.stdout) == usual
    assert done.stderr.count("clopt cannot store files in /proc") == 1
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir()), "nothing is left in the current folder"


def test_the_command_line_says_it_in_a_remark(network: Path, tmp_path: Path) -> None:
    code = "import sys\nfrom clopt.tools.run import main\nmain([sys.argv[1]])"
    done = run(code, network, {"XDG_CACHE_HOME": "/proc"}, tmp_path)
    assert done.returncode == 0
    (remark,) = [line for line in done.stderr.splitlines() if "cannot store" in line]
    assert remark.startswith("remark: clopt cannot store files in /proc/clopt, so each process ")


def test_a_folder_of_the_cache_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "cache"
    assert caches.make_private(folder)
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    assert caches.make_private(folder)
    assert folder.stat().st_mode & 0o022 == 0


def test_a_folder_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    file.chmod(0o600)
    assert caches.make_private(tmp_path)
    assert caches.is_private(file)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert not caches.make_private(tmp_path)
    assert not caches.is_private(file)


@pytest.mark.parametrize("harm", ["file", "folder", "link", "absent"])
def test_a_file_that_others_could_have_written_is_not_trusted(harm: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    file.chmod(0o644)
    tmp_path.chmod(0o755)
    assert caches.is_private(file)
    match harm:
        case "file":
            file.chmod(0o664)
        case "folder":
            tmp_path.chmod(0o775)
        case "link":
            file.rename(tmp_path / "other")
            file.symlink_to(tmp_path / "other")
        case _:
            file.unlink()
    assert not caches.is_private(file)


def test_a_full_disk_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PoCL ends the process there, so its cache lies in the folder of the process, too."""
    free = dict.fromkeys((tmp_path, Path("/dev/shm"), Path(tempfile.gettempdir())), 1 << 30)

    def disk_usage(place: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free[place])

    monkeypatch.setattr(caches.shutil, "disk_usage", disk_usage)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("POCL_CACHE_DIR", raising=False)
    for function in (caches._is_kept, caches._process_folder):
        monkeypatch.setattr(caches, function.__name__, cache(function.__wrapped__))
    assert caches.has_space(tmp_path / "not" / "yet")
    free[tmp_path] = free[tmp_path / "clopt"] = (16 << 20) - 1
    with pytest.warns(CloptWarning, match="cannot store files in .* at least 16 MB of free"):
        assert not caches.is_cache_kept()
    free[Path(tempfile.gettempdir())] = 0
    pocl = Path(environment._variables.__wrapped__()["POCL_CACHE_DIR"])
    assert pocl.parent == caches.process_folder()
    assert pocl.parent.parent == Path("/dev/shm")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no fork")
def test_a_fork_that_ends_leaves_the_folder_of_its_parent(tmp_path: Path) -> None:
    code = """
import os
from clopt.files.caches import process_folder
own = process_folder()
child = os.fork()
if not child:
    assert process_folder() != own
    raise SystemExit
os.waitpid(child, 0)
print(own, own.is_dir(), len(list(own.parent.iterdir())))
"""
    done = run(code, tmp_path, {"TMPDIR": str(tmp_path)}, tmp_path)
    assert done.stdout == f"{done.stdout.split()[0]} True 1\n", done.stderr
    assert not list(tmp_path.iterdir())
