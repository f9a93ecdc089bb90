"""Variables for OpenCL runtimes, which the process has while it loads them."""

from __future__ import annotations

import os

import pytest

from clopt.backends.pyopencl_runtime import environment
from clopt.backends.pyopencl_runtime.environment import environment_of_runtimes


@pytest.mark.parametrize("given", ["", "/a/folder"])
def test_a_variable_that_the_process_sets_stays(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """Also where clopt had found before that it is not set."""
    monkeypatch.setattr(environment, "_variables", lambda: {"CLOPT_TEST": "ours"})
    if given:
        monkeypatch.setenv("CLOPT_TEST", given)
    with environment_of_runtimes():
        assert os.environ["CLOPT_TEST"] == (given or "ours")
    assert os.environ.get("CLOPT_TEST", "") == given
