"""Checks what a user hands to an inference; every mistake becomes one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from ...errors import CloptError
from ...messages.arguments import type_name
from ...messages.sentences import as_sentence
from ...tensor_info import TensorInfo

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Arrays: TypeAlias = Mapping[str, Array] | Sequence[Array]


def checked_inputs(ports: Sequence[TensorInfo], inputs: Arrays) -> list[Array]:
    """The arrays in the order of `ports`, contiguous, each of the right type and shape."""
    # An array has a length, too: it would be taken for the list of its own rows.
    if not isinstance(cast("object", inputs), Mapping | Sequence) or isinstance(inputs, str):
        raise CloptError(
            f"The inputs are a mapping of names to arrays or a list of arrays ({_names(ports)}), "
            f"not {type_name(inputs)}."
        )
    if isinstance(inputs, Mapping):
        check_names(ports, inputs, "input")
        ordered = [inputs[port.name] for port in ports]
    else:
        if len(inputs) != len(ports):
            raise CloptError(
                f"The model has {len(ports)} inputs ({_names(ports)}), "
                f"but {len(inputs)} were given."
            )
        ordered = list(inputs)
    return [_checked(port, value) for port, value in zip(ports, ordered, strict=True)]


def check_names(ports: Sequence[TensorInfo], given: Mapping[str, object], what: str) -> None:
    """Refuse names that are missing or unknown; `what` is the word for `ports` in the message."""
    known = {port.name for port in ports}
    missing = [name for name in known if name not in given]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise CloptError(
            f'The model has no {what} called "{sorted(unknown)[0]}"; it has {_names(ports)}.'
        )
    if missing:
        raise CloptError(f'The {what} "{sorted(missing)[0]}" is missing; give {_names(ports)}.')


def _checked(port: TensorInfo, value: object) -> Array:
    array = _as_array(port, value)
    check_form(port, array.dtype, array.shape)
    return np.asarray(array, order="C")


def _as_array(port: TensorInfo, value: object) -> Array:
    """The array of `value`, which may be of another library; CloptError where it has none."""
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(cast("Any", value))
        return np.asarray(value)
    except Exception as error:  # a library may raise anything: torch a RuntimeError with a hint
        raise CloptError(
            f'The input "{port.name}" is a {type_name(value)}, which gives no array: '
            f"{as_sentence(str(error))}"
        ) from error


def check_form(port: TensorInfo, given: np.dtype[Any], shape: Sequence[int]) -> None:
    """Refuse an array of another type or shape than that of the input or output `port`."""
    if given != port.dtype:
        raise CloptError(
            f'The array for "{port.name}" has the type {given}, but the model has {port.dtype}; '
            f"convert it, for instance by .astype(numpy.{port.dtype.name})."
        )
    if tuple(shape) != port.shape:
        raise CloptError(
            f'The array for "{port.name}" has the shape {_shape(shape)}, but the model was '
            f"compiled for {_shape(port.shape)}."
        )


def _names(ports: Sequence[TensorInfo]) -> str:
    return ", ".join(f'"{port.name}"' for port in ports) or "none"


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "()"
