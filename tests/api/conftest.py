"""The cache of compiled models for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import clopt
from clopt import compilation, compiled_cache


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """An empty cache of models that is on; every use of the compiler appends to the list."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(compiled_cache.CHOICE, "auto")
    # The checkout may be edited while the tests run.
    monkeypatch.setattr(compiled_cache, "is_revision_settled", lambda: True)
    done: list[object] = []
    compile_model = compilation.compile_model

    def count(model: Any, *args: Any, **options: Any) -> clopt.CompiledModel:
        done.append(model)
        return compile_model(model, *args, **options)

    monkeypatch.setattr(compilation, "compile_model", count)
    return done
