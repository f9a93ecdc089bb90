"""Conversion of the dictionaries that a user passes and gets, from and to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from .errors import CloptError
from .messages.arguments import type_name
from .messages.printable import printable
from .tensor_info import Key, TensorInfo


def values_of(port: TensorInfo, value: object) -> np.ndarray[Any, Any]:
    """Return the values of a map in the order of the input's keys; those that it lacks are 0."""
    if not isinstance(value, Mapping):
        raise CloptError(
            f'The input "{port.name}" is a map, so it takes a dictionary, not {type_name(value)}.'
        )
    given = cast("Mapping[object, Any]", value)
    kind = str if isinstance(port.keys[0], str) else int | np.integer
    if wrong := [key for key in given if not isinstance(key, kind)]:
        wanted = "texts" if kind is str else "integers"
        raise CloptError(
            f'The keys of the input "{port.name}" are {wanted}, not {type_name(wrong[0])}.'
        )
    try:
        return np.array([[given.get(key, 0) for key in port.keys]], port.dtype)
    except (TypeError, ValueError) as error:
        raise CloptError(
            f'The values of the input "{printable(port.name)}" must be numbers.'
        ) from error


def maps_of(port: TensorInfo, values: np.ndarray[Any, Any]) -> list[dict[Key, Any]]:
    """Return a dictionary for each row, with keys in order and numbers of Python as values."""
    order = sorted(range(len(port.keys)), key=port.keys.__getitem__)
    keys = [port.keys[at] for at in order]
    rows = cast("list[list[Any]]", values[:, order].tolist())
    return [dict(zip(keys, row, strict=True)) for row in rows]
