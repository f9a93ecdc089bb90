"""What Linux tells about a processor, and systems that tell nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clopt.backends.pyopencl_runtime import system

CPUINFO = """\
processor\t: 0
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC
flags\t\t: fpu avx512f {flag}
MHz\t\t: {mhz}

processor\t: 1
vendor_id\t: another
"""


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that tells nothing yet."""
    monkeypatch.setattr(system, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(system, "_CACHES", tmp_path / "cache")
    system._processor_lines.cache_clear()
    yield
    system._processor_lines.cache_clear()


def told(tmp_path: Path, **words: str) -> tuple[bool, str]:
    (tmp_path / "cpuinfo").write_text(CPUINFO.format(**words))
    system._processor_lines.cache_clear()
    return system.has_avx512(), system.processor()


def test_a_system_that_tells_nothing() -> None:
    assert not system.has_avx512()
    assert system.data_cache_bytes() == {}
    assert system.processor()


def test_avx512_is_the_extension_for_all_vectors(tmp_path: Path) -> None:
    assert told(tmp_path, flag="avx512vl", mhz="1")[0]
    assert not told(tmp_path, flag="avx512vlx", mhz="1")[0]


def test_processors_differ_by_their_abilities_not_by_their_clock(tmp_path: Path) -> None:
    plain = told(tmp_path, flag="avx512vl", mhz="2600")[1]
    assert told(tmp_path, flag="avx512vl", mhz="3100")[1] == plain
    assert told(tmp_path, flag="avx512vl amx", mhz="2600")[1] != plain


def test_caches_of_data(tmp_path: Path) -> None:
    rows = [("Data", "1", "48K"), ("Instruction", "1", "32K"), ("Unified", "2", "1024K")]
    rows += [("Unified", "3", "odd")]
    for index, words in enumerate(rows):
        folder = tmp_path / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        for name, word in zip(("type", "level", "size"), words, strict=True):
            (folder / name).write_text(f"{word}\n")
    (tmp_path / "cache" / "index9").mkdir()  # and no file in it
    assert system.data_cache_bytes() == {1: 48 << 10, 2: 1 << 20}
