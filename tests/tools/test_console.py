"""Files that tools write."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from clopt.tools.console import write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path):
    path = tmp_path / "out.txt"
    write_whole(path, "one")
    write_whole(path, b"two")
    assert path.read_text() == "two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path):
    """As root, a replaced /dev/null would be gone for everybody."""
    path, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    reader = Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_whole(path, "text")
    reader.join(timeout=10)
    assert read == [b"text"]
    assert stat.S_ISFIFO(path.stat().st_mode)
