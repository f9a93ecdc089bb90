"""Compiled kernels on disk: used, rebuilt when damaged, never required."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from support.cl.programs import KERNELS, WEIGHT, Doubler

OWN_CACHE = "Portable Computing Language"  # PoCL keeps its binaries itself


def check(doubler: Doubler, from_cache: bool, **options: object) -> None:
    executable = doubler.executable(**options)
    kept = doubler.device.platform != OWN_CACHE
    assert executable.built_from_cache == (from_cache and kept)
    np.testing.assert_array_equal(executable.run([WEIGHT])[0], 4 * WEIGHT)


def test_a_second_build_comes_from_the_cache(doubler: Doubler) -> None:
    check(doubler, from_cache=False)
    check(doubler, from_cache=True)
    check(doubler, from_cache=False, use_cache=False)


def test_another_source_is_another_entry(doubler: Doubler) -> None:
    check(doubler, from_cache=False)
    check(doubler, from_cache=False, source=KERNELS + "// changed\n")
    check(doubler, from_cache=True)


@pytest.mark.parametrize("damage", ["truncated", "empty", "changed", "foreign"])
def test_damaged_entries_are_rebuilt(doubler: Doubler, damage: str) -> None:
    check(doubler, from_cache=False)
    for file in doubler.cache_folder.glob("*"):
        content = file.read_bytes()
        damaged = {
            "truncated": content[: len(content) // 2],
            "empty": b"",
            "changed": content[:-1] + bytes([content[-1] ^ 1]),
            "foreign": b"something else",
        }
        file.write_bytes(damaged[damage])
    check(doubler, from_cache=False)
    check(doubler, from_cache=True)


def test_an_entry_of_other_facts_is_rebuilt(doubler: Doubler) -> None:
    """Somebody renames an entry: it is whole, and of another kernel."""
    check(doubler, from_cache=False)
    (first,) = entries(doubler) or [None]
    other = KERNELS.replace("a[i] + b[i]", "a[i] - b[i]")
    doubler.executable(source=other)
    if first is not None:
        (second,) = set(entries(doubler)) - {first}
        second.replace(first)
    check(doubler, from_cache=False)
    check(doubler, from_cache=True)


def test_an_entry_that_others_could_have_written_is_rebuilt(doubler: Doubler) -> None:
    check(doubler, from_cache=False)
    for file in entries(doubler):
        file.chmod(0o666)
    check(doubler, from_cache=False)
    check(doubler, from_cache=True)


def entries(doubler: Doubler) -> list[Path]:
    return list(doubler.cache_folder.glob("*.bin"))


def test_the_oldest_entries_are_forgotten(
    doubler: Doubler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clopt.backends.pyopencl_runtime.cache._KEPT", 2)
    for i in range(4):
        check(doubler, from_cache=False, source=f"{KERNELS}// {i}\n")
        for age, file in enumerate(doubler.cache_folder.glob("*")):
            os.utime(file, (file.stat().st_mtime - 10 - age,) * 2)
    assert len(list(doubler.cache_folder.glob("*"))) in (0, 2)
    check(doubler, from_cache=True, source=f"{KERNELS}// 3\n")


def test_a_folder_that_cannot_be_written(doubler: Doubler) -> None:
    doubler.cache_folder.write_text("a file where the folder should be")
    check(doubler, from_cache=False)
