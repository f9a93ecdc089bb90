"""Checks what a user hands to an inference; every mistake becomes one sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pyopencl.array as cla

from ...errors import CloptError
from ...messages.arguments import type_name
from ...messages.sentences import as_sentence
from ...tensor_info import TensorInfo
from .arrays import Array, Arrays, Bindable, GivenList


def checked_inputs(ports: Sequence[TensorInfo], inputs: Arrays) -> list[Array | Bindable]:
    """Return the contents of `ports`, in order.

    An array of the host is contiguous, and has the right type and shape. Objects of pyopencl are
    as the caller gave them.
    """
    named = named_inputs(ports, inputs)
    return [_checked(port, named[port.name]) for port in ports]


def named_inputs(ports: Sequence[TensorInfo], inputs: Arrays) -> dict[str, GivenList]:
    """Return the contents of `ports` by name, as the caller gave them."""
    # An array has a length, too: it would be taken for the list of its own rows.
    if not isinstance(cast("object", inputs), Mapping | Sequence) or isinstance(inputs, str):
        raise CloptError(
            f"The inputs must be a mapping of names to arrays or a list of arrays "
            f"({_names(ports)}), not {type_name(inputs)}."
        )
    if isinstance(inputs, Mapping):
        check_names(ports, inputs, "input")
        return {port.name: inputs[port.name] for port in ports}
    if len(inputs) != len(ports):
        raise CloptError(
            f"The model has {len(ports)} inputs ({_names(ports)}), but {len(inputs)} were given."
        )
    return {port.name: value for port, value in zip(ports, inputs, strict=True)}


def sized_inputs(
    ports: Sequence[TensorInfo], inputs: Arrays, stated: Collection[str]
) -> dict[str, Array | Bindable]:
    """Return the contents of `ports` by name; each has a shape if that of its port is open.

    Those of ports whose open sizes are all `stated` may have any shape.
    """
    named = named_inputs(ports, inputs)
    found: dict[str, Array | Bindable] = {}
    for port in ports:
        content = found[port.name] = _checked(port, named[port.name])
        if port.symbols and port.is_stated(stated):
            continue
        if isinstance(content, cla.Array):
            check_form(port, content.dtype, content.shape)
        elif isinstance(content, cl.MemoryObject) and port.symbols:
            raise CloptError(
                f'The memory for "{port.name}" has no shape, and the model takes '
                f"{port.open_shape}; pass a pyopencl.array.Array, or state the sizes, dims=..."
            )
    return found


def has_image(contents: Iterable[object]) -> bool:
    """Return whether one of the contents is an image of pyopencl."""
    return any(isinstance(each, cl.Image) for each in contents)


def host_copy(port: TensorInfo, content: Array | Bindable, queue: cl.CommandQueue | None) -> Array:
    """Return a copy of an input's contents on the host; a buffer is read by `queue`."""
    if isinstance(content, np.ndarray):
        return content.copy()
    if isinstance(content, cla.Array):
        return np.asarray(content.get(queue))
    array = np.empty(port.shape, port.dtype)
    if isinstance(content, cl.Image) or queue is None or content.size < array.nbytes:
        raise CloptError(f'The value of "{port.name}" decides shapes or branches; pass an array.')
    cl.enqueue_copy(queue, array, content)
    return array


def check_names(ports: Sequence[TensorInfo], given: Mapping[str, object], what: str) -> None:
    """Refuse names that are missing or unknown; `what` is the word for `ports` in the message."""
    known = {port.name for port in ports}
    missing = [name for name in known if name not in given]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise _unknown(ports, sorted(unknown)[0], what)
    if missing:
        raise CloptError(f'The {what} "{sorted(missing)[0]}" is missing; pass {_names(ports)}.')


def checked_names(ports: Mapping[int, TensorInfo], names: object) -> list[int]:
    """Return the numbers of the outputs that a caller names."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise CloptError(
            f"The outputs must be a list of names ({_names(ports.values())}), or a mapping of "
            f"names to arrays to fill, not {type_name(names)}."
        )
    return [_number(ports, name) for name in cast("Sequence[object]", names)]


def checked_targets(
    ports: Mapping[int, TensorInfo], targets: Mapping[str, object]
) -> dict[int, Array | Bindable]:
    """Return the caller's memory for outputs, by their numbers.

    An array of the host is contiguous and writable, and has the right type and shape.
    """
    numbers = {_number(ports, name): target for name, target in targets.items()}
    return {i: _target(ports[i], target) for i, target in numbers.items()}


def _number(ports: Mapping[int, TensorInfo], name: object) -> int:
    for i, port in ports.items():
        if port.name == name:
            return i
    raise _unknown(ports.values(), name, "output")


def _checked(port: TensorInfo, value: object) -> Array | Bindable:
    if isinstance(value, cl.Buffer | cl.Image | cla.Array):
        return value
    array = as_array("input", port, value)
    check_form(port, array.dtype, array.shape)
    return np.asarray(array, order="C")


def _target(port: TensorInfo, value: object) -> Array | Bindable:
    """Return the place for an output: memory that the caller sees, and no copy of it."""
    if isinstance(value, cl.Buffer | cl.Image | cla.Array):
        return value
    if not hasattr(value, "__dlpack__"):  # numpy's have it, too
        raise CloptError(
            f'The output "{port.name}" goes to an array of numpy or pyopencl, or of another '
            f"library with DLPack, not to {type_name(value)}."
        )
    array = as_array("output", port, value)
    check_form(port, array.dtype, array.shape)
    if not array.flags.writeable:
        raise CloptError(
            f'The array for the output "{port.name}" is read-only; pass a writable one.'
        )
    if not array.flags.c_contiguous:
        raise CloptError(
            f'The array for the output "{port.name}" is not contiguous; pass a contiguous one.'
        )
    return array


def as_array(what: str, port: TensorInfo, value: object) -> Array:
    """Return `value`, which may be of another library, as an array; CloptError if it is none."""
    try:
        if what == "output" or (hasattr(value, "__dlpack__") and not hasattr(value, "__array__")):
            return np.from_dlpack(cast("Any", value))
        return np.asarray(value)
    except Exception as error:  # a library may raise anything: torch a RuntimeError with a hint
        raise CloptError(
            f'The {what} "{port.name}" is a {type_name(value)}, which cannot become an array: '
            f"{as_sentence(str(error))}"
        ) from error


def check_form(port: TensorInfo, given: np.dtype[Any], shape: Sequence[int]) -> None:
    """Refuse an array of another type or shape than that of the input or output `port`."""
    if given != port.dtype:
        raise CloptError(
            f'The array for "{port.name}" has the type {given}, but the model has {port.dtype}; '
            f"convert it, for example by .astype({port.dtype.type.__module__}.{port.dtype.name})."
        )
    if not port.fits(shape):
        verb = "takes" if port.symbols else "was compiled for"
        raise CloptError(
            f'The array for "{port.name}" has the shape {_shape(shape)}, but the model {verb} '
            f"{port.open_shape}."
        )


def _unknown(ports: Collection[TensorInfo], name: object, what: str) -> CloptError:
    return CloptError(f'The model has no {what} called "{name}"; it has {_names(ports)}.')


def _names(ports: Collection[TensorInfo]) -> str:
    return ", ".join(f'"{port.name}"' for port in ports) or "none"


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "()"
