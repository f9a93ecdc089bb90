"""What a model may not do: be used after a fork."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.errors import CloptWarning, warn
from clopt.garbage import collected_rarely

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"


def forked(use: Callable[[], object]) -> str:
    """The message with which `use` fails in a forked process."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # tests may have other threads
        child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            use()
        except clopt.CloptError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        message = told.read()
    assert os.waitpid(child, 0)[1] == 0, "a signal ended it"
    return message


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no fork")
def test_a_forked_process_gets_an_error(device: str) -> None:
    """PoCL would wait for threads that only the parent has."""
    model = clopt.compile(DIGITS, device=device, dims={"batch": 1})
    inputs = [np.zeros(tensor.shape, tensor.dtype) for tensor in model.inputs]
    model.run(inputs)
    for use in (lambda: model.run(inputs), lambda: model.profile(runs=1), clopt.list_devices):
        assert "was forked by one that had used OpenCL" in forked(use)
    assert model.run(inputs)[0].shape == (1, 10)


def test_warnings_name_the_line_of_the_caller() -> None:
    inner = {"__name__": "clopt.inner", "warn": warn, "collected_rarely": collected_rarely}
    exec("@collected_rarely()\ndef inside():\n    warn('a sentence')", inner)
    with pytest.warns(CloptWarning, match="a sentence") as caught:
        inner["inside"]()
    assert [warning.filename for warning in caught] == [__file__]
