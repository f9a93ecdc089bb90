"""C sources as shared libraries: compiled once, by any number of processes, or one sentence."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from clopt import CloptError
from clopt.backends.clml import library
from clopt.backends.clml.library import Sources, build_library
from support.processes import LIMIT

TWO = Sources(
    {
        "one.c": b'#include "number.h"\nint other(void);\nint one(void) { return NUMBER; }\n',
        "deep/other.c": b"#include <number.h>\nint other(void) { return 2 * NUMBER; }\n",
        "include/number.h": b"#define NUMBER 21\n",
    },
    ("include",),
)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("CC", raising=False)


def test_all_sources_make_one_library(tmp_path: Path) -> None:
    loaded = ctypes.CDLL(str(build_library(TWO, tmp_path)))
    assert (loaded.one(), loaded.other()) == (21, 42)
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith(".")]


def test_what_is_there_needs_no_compiler(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    first = build_library(TWO, tmp_path)
    request.getfixturevalue("no_compiler")
    assert build_library(TWO, tmp_path) == first
    other = Sources(dict(TWO.files) | {"one.c": b"int one(void) { return 1; }\n"}, TWO.include)
    with pytest.raises(CloptError, match=r"there is no C compiler; install gcc or clang"):
        build_library(other, tmp_path)


def test_a_compiler_that_hangs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\nexec sleep 60\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setattr(library, "_MOST_SECONDS", 0.1)
    with pytest.raises(CloptError, match=rf"^The C compiler {compiler} did not finish"):
        build_library(TWO, tmp_path / "cache")


def test_a_compiler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    with pytest.raises(CloptError, match=r"there is no C compiler.*no-such-compiler"):
        build_library(TWO, tmp_path)
    monkeypatch.setenv("CC", "gcc 'x")
    with pytest.raises(CloptError, match="CC=gcc 'x: No closing quotation; quote its words"):
        build_library(TWO, tmp_path)


def test_a_compiler_that_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler without the headers of C is not our bug."""
    monkeypatch.setenv("CC", "false")
    with pytest.raises(CloptError, match=r"C compiler false does not work .*status 1.*another"):
        build_library(TWO, tmp_path)
    monkeypatch.setenv("CC", "cc -nostdinc")
    sources = Sources({"one.c": b"#include <stdint.h>\nint32_t one = 1;\n"})
    with pytest.raises(CloptError, match=r"cc -nostdinc does not work .*stdlib\.h.*libc6-dev"):
        build_library(sources, tmp_path)


def test_what_changed_is_compiled(tmp_path: Path) -> None:
    """A header's change reaches all that include it; other objects stay."""
    paths = {build_library(TWO, tmp_path)}
    objects = set(tmp_path.glob("*.o"))
    source = b'#include "number.h"\nint one(void) { return NUMBER + 1; }\n'
    paths.add(build_library(Sources(dict(TWO.files) | {"one.c": source}, TWO.include), tmp_path))
    assert len(set(tmp_path.glob("*.o")) - objects) == 1
    header = dict(TWO.files) | {"include/number.h": b"#define NUMBER 5\n"}
    changed = build_library(Sources(header, TWO.include), tmp_path)
    assert ctypes.CDLL(str(changed)).other() == 10
    assert len({*paths, changed}) == 3


def test_no_headers_of_opencl(tmp_path: Path) -> None:
    sources = Sources({"a.c": b"#include <CL/cl_that_nobody_has.h>\n"})
    with pytest.raises(CloptError, match="there are no OpenCL headers; install opencl-c-head"):
        build_library(sources, tmp_path)


def test_wrong_c_is_our_bug(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)bug of clopt.*no_such_type"):
        build_library(Sources({"a.c": b"no_such_type a;\n"}), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    made = build_library(TWO, tmp_path / "file" / "folder")
    assert ctypes.CDLL(str(made)).one() == 21


@pytest.mark.parametrize("harm", ["changed", "swapped", "open to others"])
def test_a_file_that_is_not_ours_is_compiled_anew(harm: str, tmp_path: Path) -> None:
    """It is not loaded: its name tells its content, and nobody else may write it."""
    one = build_library(TWO, tmp_path)
    other = Sources({"a.c": b"int one(void) { return 666; }\n"})
    match harm:
        case "changed":
            one.write_bytes(b"not a library")
        case "swapped":
            build_library(other, tmp_path / "other").replace(one)
        case _:
            one.chmod(0o777)
    again = build_library(TWO, tmp_path)
    assert ctypes.CDLL(str(again)).one() == 21
    assert again.stat().st_mode & 0o022 == 0


def test_the_oldest_entries_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_KEPT", 3)
    for number in range(4):
        build_library(Sources({"a.c": b"int a(void) { return %d; }\n" % number}), tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_processes_compile_side_by_side(tmp_path: Path) -> None:
    code = (
        "import ctypes, sys; from pathlib import Path\n"
        "from clopt.backends.clml.library import Sources, build_library\n"
        "files = {f'f{i}.c': b'int f%d(void) { return %d; }' % (i, i) for i in range(8)}\n"
        "made = ctypes.CDLL(str(build_library(Sources(files), Path(sys.argv[1]))))\n"
        "assert [made[f'f{i}']() for i in range(8)] == list(range(8))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "libraries")]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(LIMIT) for process in processes] == [0] * 4
    assert len(list((tmp_path / "libraries").iterdir())) == 9
