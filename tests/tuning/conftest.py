"""Tests of the tuner start processes, which keep their files and locks in a cache of the test's."""

from __future__ import annotations

import os
import sys

import pytest


@pytest.fixture(autouse=True)
def cache_of_the_test(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))  # for `support`
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
