"""What the key of a kept model has of files and folders: their content, at little cost."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

import pytest

from clopt.backends.model_cache import revision
from clopt.backends.model_cache.file_digests import FileDigests
from clopt.backends.pyopencl_runtime.cache import BinaryCache


def test_the_state_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    first = revision.tree_of(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("")
    assert revision.tree_of(tmp_path) == first
    times = file.stat()
    file.write_text("x = 2\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # as some installers do
    second = revision.tree_of(tmp_path)
    assert second.digest != first.digest
    assert second.newest >= first.newest
    (tmp_path / "b.py").write_text("")
    assert revision.tree_of(tmp_path).digest not in (first.digest, second.digest)


def test_a_large_file_is_read_again_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clopt.backends.model_cache.file_digests._SETTLED_NS", -(10**12))
    path = tmp_path / "large"
    path.write_bytes(bytes(2 << 20))

    def content() -> object:
        return FileDigests(BinaryCache(tmp_path / "kept")).content_of(path)

    first = content()
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert content() == first
    times = path.stat()
    with path.open("r+b") as file:
        file.seek(1 << 20)
        file.write(b"\1")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert content() != first


@pytest.mark.parametrize("start", [0, 1 << 18, (1 << 18) - 5, (1 << 18) - 12, 3 << 18])
def test_names_of_external_data_are_found_anywhere(tmp_path: Path, start: int) -> None:
    path = tmp_path / "m.onnx"
    entry = b"\x0a\x08location\x12\x05a.bin"
    path.write_bytes(bytes(start) + entry + bytes(1 << 18))
    content = FileDigests(BinaryCache(None)).content_of(path)
    assert content is not None
    assert content.locations == ("a.bin",)
    path.write_bytes(bytes(start) + b"\x12\x05a.bin\x0a\x08location" + b"\x6a\x00" + bytes(9))
    assert FileDigests(BinaryCache(None)).content_of(path) is None


def test_a_pipe_is_no_content(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert FileDigests(BinaryCache(None)).content_of(tmp_path / "pipe") is None


@pytest.mark.parametrize("package", ["xdsl", "onnx", "numpy", "ml_dtypes"])
def test_another_version_of_a_package_is_another_revision(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = revision.revision.__wrapped__()
    monkeypatch.setattr(
        revision, "version", lambda name: "0.0" if name == package else metadata.version(name)
    )
    assert revision.revision.__wrapped__() != before
