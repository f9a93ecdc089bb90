"""Files that tools write."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from clopt import CloptError
from clopt.tools.console import write_user_file


def test_a_file_is_replaced_as_a_whole(tmp_path: Path):
    path = tmp_path / "out.txt"
    write_user_file(path, "one")
    write_user_file(path, b"two")
    assert path.read_text() == "two"
    path.chmod(0o640)
    write_user_file(path, "three")
    assert path.stat().st_mode & 0o777 == 0o640
    (tmp_path / "out").mkdir()
    with pytest.raises(CloptError, match="out: cannot write here: Is a directory"):
        write_user_file(tmp_path / "out", "text")
    assert {file.name for file in tmp_path.iterdir()} == {"out", "out.txt"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path):
    """As root, a replaced /dev/null would be gone for everybody."""
    path, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    reader = Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_user_file(path, "text")
    reader.join(timeout=10)
    assert read == [b"text"]
    assert stat.S_ISFIFO(path.stat().st_mode)
