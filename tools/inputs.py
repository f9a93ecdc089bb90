"""Inputs of a model from the command line: arrays, images, or seeded random numbers."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..errors import CloptError
from ..files.arrays import read_arrays
from ..messages.open_dimensions import (
    OpenDimension,
    OpenDimensionsError,
    OpenModelError,
    OpenValuesError,
)
from ..messages.sentences import reason_of
from ..tensor_info import describe

if TYPE_CHECKING:
    from ..api import RangedModel, TensorInfo

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_CHANNELS = {1: "L", 3: "RGB", 4: "RGBA"}


@dataclass(frozen=True)
class ImageScaling:
    """The scaling of 8-bit pixels: `(pixel / 255 - mean) / std`, per channel or for all."""

    mean: Sequence[float] = (0.0,)
    std: Sequence[float] = (1.0,)


def random_input(spec: TensorInfo, rng: np.random.Generator) -> Array:
    """Return numbers that are valid for most models.

    Floats are standard normal; integers of at most 8 bits use their whole range. Wider integers are
    0 or 1, which are valid as an index, a token or a mask.
    """
    dtype = np.dtype(spec.dtype)
    if dtype.kind == "f" or "float" in dtype.name:
        return rng.standard_normal(spec.shape).astype(dtype)
    if dtype.kind == "V":  # an integer type of ml_dtypes, below 8 bits
        return rng.integers(0, 16, spec.shape, np.uint8).astype(dtype)  # keeps the low bits
    if dtype.kind != "b" and dtype.itemsize == 1:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return rng.integers(low, high, spec.shape, dtype, endpoint=True)
    return rng.integers(0, 2, spec.shape).astype(dtype)


def collect_inputs(
    specs: Sequence[TensorInfo],
    items: Sequence[str],
    seed: int,
    scaling: ImageScaling,
    constants: Container[str] = (),
) -> dict[str, Array]:
    """Return an array for each input of the model: from `--input`, or random numbers.

    `constants` are the inputs whose values the compiled model has already.
    """
    known = {spec.name: spec for spec in specs}
    given: dict[str, Array] = {}
    for item in items:
        name, file = _split(item)
        if name not in constants:
            given |= _load(name, file, known, scaling, constants)
    rng = np.random.default_rng(seed)
    drawn = {name: random_input(spec, rng) for name, spec in known.items()}
    return drawn | given


class Bindings(NamedTuple):
    """Sizes and values that a model leaves open."""

    dims: Mapping[str, int]
    values: Mapping[str, Array]


def bindings_of_inputs(error: OpenModelError, items: Sequence[str]) -> Bindings:
    """Return what the arrays of `--input` determine; raise CloptError if it is not enough."""
    if isinstance(error, OpenDimensionsError):
        dims = dims_of_inputs(error, items)
        if not dims:
            raise error
        return Bindings(dims, {})
    assert isinstance(error, OpenValuesError)
    given = _given_arrays(items, ())
    if any(name not in given for name in error.inputs):
        raise CloptError(f"{error.for_input_files()}.")
    return Bindings({}, {name: given[name] for name in error.inputs})


def ports_at(model: RangedModel, dims: Mapping[str, int], items: Sequence[str]) -> list[TensorInfo]:
    """Return the inputs of a model with these sizes, or those of `--input`, or the largest ones."""
    names = [port.name for port in model.inputs]
    places = [
        OpenDimension(symbol, port.name, axis)
        for port in model.inputs
        for axis, symbol in enumerate(port.symbols)
        if symbol
    ]
    given = dims_of_inputs(OpenDimensionsError(names, places), items)
    largest = {name: each.most or 0 for name, each in model.table.ranges.items()}
    for name in dims:
        if name not in largest:
            raise CloptError(
                f"--dim {name}: this is no open dimension of the model; it has "
                f"{', '.join(largest)}."
            )
    sizes = {**largest, **given, **dims}
    return [replace(port, shape=port.shape_at(sizes), symbols=()) for port in model.inputs]


def dims_of_inputs(error: OpenDimensionsError, items: Sequence[str]) -> dict[str, int]:
    """Return the open dimensions of a model that the arrays of `--input` determine."""
    shapes = {name: each.shape for name, each in _given_arrays(items, error.inputs).items()}
    dims: dict[str, int] = {}
    for name, source, axis in error.dimensions:
        shape = shapes.get(source, ())
        if axis >= len(shape):
            continue
        if dims.setdefault(name, shape[axis]) != shape[axis]:
            raise CloptError(
                f"--input: the dimension {name} is {dims[name]} in one array and {shape[axis]} in "
                f"{source}; pass arrays of the same size."
            )
    return dims


def _given_arrays(items: Sequence[str], inputs: Sequence[str]) -> dict[str, Array]:
    """Return the arrays of `--input` by input; images are left out, because they fit any size."""
    found: dict[str, Array] = {}
    for item in items:
        name, file = _split(item)
        if file.suffix not in (".npy", ".npz"):
            continue
        arrays = read_arrays(file)
        if file.suffix == ".npz" and not name:
            found |= arrays
        elif name or len(inputs) == 1:
            found[name or inputs[0]] = next(iter(arrays.values()))
    return found


def _split(item: str) -> tuple[str, Path]:
    """Return the name, which may be empty, and the file of an `--input`."""
    name, equals, file = item.partition("=")
    return (name, Path(file)) if equals else ("", Path(item))


def _load(
    name: str,
    file: Path,
    known: Mapping[str, TensorInfo],
    scaling: ImageScaling,
    constants: Container[str],
) -> dict[str, Array]:
    if file.suffix == ".npz" and not name:
        arrays = read_arrays(file)
        return {
            key: _checked(key, array, known, file)
            for key, array in arrays.items()
            if key not in constants
        }
    if not name and len(known) != 1:
        names = ", ".join(known)
        raise CloptError(f"--input {file}: the model has the inputs {names}; write name={file}.")
    name = name or next(iter(known))
    if name not in known:
        raise CloptError(f"--input {name}: the model has no such input, only {', '.join(known)}.")
    if file.suffix in (".npy", ".npz"):
        array = next(iter(read_arrays(file).values()))
    else:
        array = read_image(file, known[name], scaling)
    return {name: _checked(name, array, known, file)}


def _checked(name: str, array: Array, known: Mapping[str, TensorInfo], file: Path) -> Array:
    if name not in known:
        raise CloptError(f"{file}: the model has no input {name}, only {', '.join(known)}.")
    spec = known[name]
    if array.shape != tuple(spec.shape) or array.dtype != np.dtype(spec.dtype):
        raise CloptError(
            f"{file}: input {name} must be {describe(spec.shape, spec.dtype)}, "
            f"not {describe(array.shape, array.dtype)}."
        )
    return array


def read_image(file: Path, spec: TensorInfo, scaling: ImageScaling) -> Array:
    """Return an image as the input `spec`: resized to its extents, and scaled if it is float.

    The channels are axis 1 (NCHW) if that axis has 1, 3 or 4 entries, else the last axis (NHWC).
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise CloptError(f"{file}: reading images needs pillow: pip install pillow.") from error
    shape = tuple(spec.shape)
    axis = next((a for a in (1, -1) if len(shape) == 4 and shape[a] in _CHANNELS), None)
    if axis is None or shape[0] != 1:
        raise CloptError(
            f"{file}: input {spec.name} of shape {shape} is not a single image; pass an .npy file."
        )
    height, width = (shape[2], shape[3]) if axis == 1 else (shape[1], shape[2])
    try:
        with Image.open(file) as image:
            pixels = image.convert(_CHANNELS[shape[axis]]).resize((width, height))
    except UnidentifiedImageError as error:
        raise CloptError(f"{file}: this is not an image that pillow can read.") from error
    except OSError as error:
        raise CloptError(f"{file}: cannot read this image: {reason_of(error)}.") from error
    array = np.asarray(pixels).reshape(1, height, width, shape[axis])
    if np.dtype(spec.dtype).kind == "f":
        array = (array / 255.0 - scaling.mean) / scaling.std
    array = array.astype(spec.dtype)
    return np.ascontiguousarray(np.moveaxis(array, -1, axis))


def parse_numbers(text: str) -> tuple[float, ...]:
    """Return comma-separated finite numbers, for `--mean` and `--std`."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise CloptError(f"{text}: write numbers separated by commas.") from None
    if len(numbers) not in _CHANNELS or not all(map(math.isfinite, numbers)):
        raise CloptError(f"{text}: write one number, or one for each of 3 or 4 channels.")
    return numbers
