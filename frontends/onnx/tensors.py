"""Conversion of ONNX tensors and types to numpy arrays and tensor types."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, TypeProto, numpy_helper
from xdsl.dialects.builtin import Float4E2M1FNType, TensorType
from xdsl.utils.exceptions import VerifyException

from ...dialects.narrow import NARROW
from ...dialects.nn.limits import check_size
from ...dialects.nn.types import Array, Tensor, element_type, numpy_dtype
from ...errors import CloptError
from ...files.reading import check_regular
from ...messages.printable import printable

_NARROW = {type: name.upper().replace("_", "") for type, name in NARROW.items()}
_NARROW[Float4E2M1FNType()] = "FLOAT4E2M1"

DTYPES: Mapping[int, np.dtype[Any]] = {
    TensorProto.FLOAT: np.dtype(np.float32),
    TensorProto.FLOAT16: np.dtype(np.float16),
    TensorProto.DOUBLE: np.dtype(np.float64),
    TensorProto.BOOL: np.dtype(np.bool_),
    TensorProto.INT8: np.dtype(np.int8),
    TensorProto.INT16: np.dtype(np.int16),
    TensorProto.INT32: np.dtype(np.int32),
    TensorProto.INT64: np.dtype(np.int64),
    TensorProto.UINT8: np.dtype(np.uint8),
    TensorProto.UINT16: np.dtype(np.uint16),
    TensorProto.UINT32: np.dtype(np.uint32),
    TensorProto.UINT64: np.dtype(np.uint64),
    **{getattr(TensorProto, name): numpy_dtype(type) for type, name in _NARROW.items()},
}
"""The supported element types."""

_PACKED_BITS = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}
"""The types with several elements in a byte of a file."""


def dtype_of(data_type: int, what: str) -> np.dtype[Any]:
    """Return the numpy type of an ONNX element type; `what` names the tensor in the error."""
    if data_type in DTYPES:
        return DTYPES[data_type]
    names = {number: name for name, number in TensorProto.DataType.items()}
    name = names.get(data_type, f"number {data_type}").lower()
    raise CloptError(
        f"{what} has the element type {name}, which is not supported; "
        "use a float type of 4 to 64 bits, bool or an integer type of 2 to 64 bits."
    )


def onnx_type(dtype: np.dtype[Any]) -> int:
    """Return the ONNX element type of a numpy type."""
    return next(number for number, known in DTYPES.items() if known == dtype)


def read_tensor(tensor: TensorProto, folder: Path | None) -> Array:
    """Return the elements of a tensor; external data is memory-mapped."""
    what = f"the tensor '{printable(tensor.name)}'" if tensor.name else "a tensor without a name"
    dtype = dtype_of(tensor.data_type, what)
    shape = tuple(tensor.dims)
    if 0 in shape:
        _checked_type(dtype, shape, what)
    if tensor.data_location == TensorProto.EXTERNAL:
        return _map_external(tensor, dtype, shape, folder, what)
    if tensor.HasField("raw_data"):
        data = tensor.raw_data  # protobuf copies the bytes on every access
        _check_size(len(data), dtype, shape, what)
        if dtype.name in _PACKED_BITS:
            return _unpacked(np.frombuffer(data, np.uint8), dtype, shape)
        little_endian = np.frombuffer(data, dtype.newbyteorder("<"))
        return little_endian.astype(dtype, copy=False).reshape(shape)
    try:
        return numpy_helper.to_array(tensor).reshape(shape)
    except ValueError as error:
        raise CloptError(
            f"{what} is damaged: its data does not match its shape {shape}."
        ) from error


def _check_size(size: int, dtype: np.dtype[Any], shape: tuple[int, ...], what: str) -> None:
    if min(shape, default=0) < 0 or size != _file_bytes(dtype, shape):
        raise CloptError(
            f"{what} is damaged: it holds {size} bytes, which does not match its shape {shape}."
        )


def _file_bytes(dtype: np.dtype[Any], shape: Sequence[int]) -> int:
    """Return the bytes that the elements of a tensor take in a file."""
    bits = _PACKED_BITS.get(dtype.name, 8 * dtype.itemsize)
    return -(-math.prod(shape) * bits // 8)


def _unpacked(data: Array, dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """Return elements of a few bits, the first in the low bits of a byte, as a byte each."""
    bits = _PACKED_BITS[dtype.name]
    moved = data.reshape(-1, 1) >> np.arange(0, 8, bits, dtype=np.uint8)
    flat = (moved & ((1 << bits) - 1)).reshape(-1)[: math.prod(shape)]
    return flat.view(dtype).reshape(shape)


def _map_external(
    tensor: TensorProto,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    folder: Path | None,
    what: str,
) -> Array:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise CloptError(
            f"{what} is stored in the file '{printable(location)}' beside the model; "
            "pass the path of the model instead of its bytes."
        )
    folder = folder.resolve()
    path = folder if "\0" in location else (folder / location).resolve()
    if path == folder or not path.is_relative_to(folder):
        raise CloptError(
            f"{what} names the data file '{printable(location)}', outside the model's folder."
        )
    size = _file_bytes(dtype, shape)
    numbers = [entries.get("offset", "0"), entries.get("length", str(size))]
    if not all(number.isdecimal() and int(number) <= sys.maxsize for number in numbers):
        raise CloptError(f"{what} is damaged: its data offset or length is not a number.")
    offset, length = map(int, numbers)
    _check_size(length, dtype, shape, what)
    if size == 0:
        return np.zeros(shape, dtype)
    try:
        check_regular(path)
        if dtype.name in _PACKED_BITS:
            return _unpacked(np.memmap(path, np.uint8, "r", offset, (size,)), dtype, shape)
        mapped = np.memmap(path, dtype.newbyteorder("<"), "r", offset, shape)
    except OSError as error:
        file = printable(str(path))
        raise CloptError(f"Cannot read {file}, the data of {what}: {error.strerror}.") from error
    except ValueError as error:
        raise CloptError(f"{path} is too short for {what}; fetch the file again.") from error
    return mapped if dtype.isnative else mapped.astype(dtype)


def tensor_type_of(proto: TypeProto, dims: Mapping[str, int], name: str) -> Tensor:
    """Return the static type of a graph input; `dims` maps symbolic dimensions to sizes.

    A dimension without a symbol is bound as `name.axis`.
    """
    what = f"the input '{printable(name)}'"
    kind = proto.WhichOneof("value")
    if kind != "tensor_type":
        raise CloptError(f"{what} has {type_text(proto)}.")
    tensor = proto.tensor_type
    dtype = dtype_of(tensor.elem_type, what)
    if not tensor.HasField("shape"):
        raise CloptError(f"{what} has no rank; export the model with shapes.")
    shape: list[int] = []
    for axis, dim in enumerate(tensor.shape.dim):
        symbol = dim.dim_param or f"{name}.{axis}"
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            shape.append(dim.dim_value)
        else:
            shape.append(dims[symbol])
    return _checked_type(dtype, shape, what)


def type_text(proto: TypeProto) -> str:
    """Return `a map type` and what is supported, for the message about an input or output."""
    kind = proto.WhichOneof("value")
    described = "no type" if kind is None else f"a {kind.removesuffix('_type')} type"
    return (
        f"{described}; only tensors, sequences and optionals of tensors, and optionals of such "
        "sequences are supported"
    )


def _checked_type(dtype: np.dtype[Any], shape: Sequence[int], what: str) -> Tensor:
    """Return the type of a tensor; raise CloptError that names the tensor if it is too large."""
    type: Tensor = TensorType(element_type(dtype), shape)
    try:
        check_size(type)
    except VerifyException as error:
        raise CloptError(f"{what}: {error}.") from error
    return type


def open_dimensions(proto: TypeProto, name: str) -> list[tuple[str, int]]:
    """Return the names that bind the open dimensions of an input, with their axes."""
    return [
        (dim.dim_param or f"{name}.{axis}", axis)
        for axis, dim in enumerate(proto.tensor_type.shape.dim)
        if not (dim.HasField("dim_value") and dim.dim_value >= 0)
    ]
