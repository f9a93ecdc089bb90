"""The store of a module's arrays; the IR contains only their names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np

from .errors import CloptError
from .files.reading import check_regular

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

STORABLE = frozenset(
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()
)
"""The numpy types that a weight may have."""

_REGISTERED = 2
"""What `isbuiltin` is for types that another package adds to numpy."""

_BITS = {1: np.uint8, 2: np.uint16}

_DIGITS = 16  # 64 bits: among 10,000 weights two different ones share a key once in 10^11 models

# Long arrays contribute two checksums of every piece (96 bits) to the digest. SHA-256 alone would
# take a tenth of a compilation, and most of the time to load a file with weights.
_PIECE = 1 << 16


class Weights:
    """Maps keys, derived from the content, to read-only arrays, which may be memory-mapped.

    Equal arrays (same type, shape and bytes) share one key, so comparing keys compares tensors. The
    same model gives the same keys in every process.
    """

    def __init__(self, known: Weights | None = None) -> None:
        """Arrays over the memory of an array of `known` have its key, without another digest."""
        self._arrays: dict[str, Array] = {}
        self._hints: dict[str, str] = {}
        self._known = known  # keeps the memory
        self._keys = {_place(a): key for key, a in known._arrays.items()} if known else {}

    def add(self, array: Array, hint: str = "") -> str:
        """Store `array` and return its key; `hint` is a readable name, such as an initialiser's.

        The bits of bfloat16 and smaller types are stored, as unsigned integers.
        """
        if array.dtype.isbuiltin == _REGISTERED and array.dtype.itemsize in _BITS:
            # A narrow type of ml_dtypes: files and devices store its bits.
            array = array.view(_BITS[array.dtype.itemsize])
        if array.dtype.name not in STORABLE:
            raise CloptError(
                f"The weight {hint or '(unnamed)'} has the type {array.dtype}; "
                f"use one of {', '.join(sorted(STORABLE))}."
            )
        key = self._keys.get(_place(array)) or _content_key(array)
        if key not in self._arrays:
            view = array.view()
            view.flags.writeable = False
            self._arrays[key] = view
            self._hints[key] = hint
        return key

    def get(self, key: str) -> Array:
        """Return the array with the key `key`."""
        if key not in self._arrays:
            raise CloptError(
                f'The weight "{key}" is not in the store of {len(self)} weights; '
                "pass the store that was filled together with this module."
            )
        return self._arrays[key]

    def hint(self, key: str) -> str:
        """Return the readable name given when `key` was first stored, or an empty string."""
        return self._hints.get(key, "")

    def keys(self) -> Iterator[str]:
        """Return the keys in the order in which arrays were stored."""
        return iter(self._arrays)

    def __contains__(self, key: object) -> bool:
        return key in self._arrays

    def __len__(self) -> int:
        return len(self._arrays)

    @classmethod
    def of(cls, arrays: Mapping[str, tuple[Array, str]]) -> Weights:
        """Return a store of arrays with their hints; the caller guarantees that the keys match."""
        store = cls()
        store._arrays = {key: array for key, (array, _) in arrays.items()}
        store._hints = {key: hint for key, (_, hint) in arrays.items()}
        return store

    def adopt(self, other: Weights) -> None:
        """Add the arrays of another store, with their keys and hints."""
        self._arrays |= other._arrays
        self._hints |= other._hints

    def share(self, arrays: MutableMapping[str, Array]) -> None:
        """Use the arrays of other stores, by key, in place of equal ones, and add the new ones."""
        for key, array in self._arrays.items():
            self._arrays[key] = arrays.setdefault(key, array)

    def become(self, other: Weights) -> None:
        """Share the storage of another store: arrays added to one appear in both."""
        self._arrays, self._hints = other._arrays, other._hints

    def subset(self, keys: Iterator[str]) -> Weights:
        """Return a store with only the arrays under `keys`."""
        chosen = Weights()
        for key in keys:
            chosen._arrays[key] = self.get(key)
            chosen._hints[key] = self.hint(key)
        return chosen

    def save(self, path: str | Path) -> None:
        """Write every array to one safetensors file."""
        from safetensors import SafetensorError

        # The package's own annotations are incomplete.
        from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

        arrays = {key: np.asarray(self._arrays[key], order="C") for key in sorted(self._arrays)}
        try:
            save_file(arrays, path)
        except SafetensorError as error:
            raise CloptError(f"Cannot write the weights file {path}: {error}.") from error
        # safetensors makes the file readable only by its owner, but a compiled model is not secret.
        Path(path).chmod(0o644)

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        """Read a file that `save` wrote; refuse truncated or foreign files."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

        store = cls()
        try:
            check_regular(Path(path))
            arrays = load_file(path)
        except OSError as error:
            raise CloptError(f"Cannot read the weights file {path}: {error.strerror}.") from error
        except SafetensorError as error:
            raise CloptError(
                f"The weights file {path} is damaged ({error}); compile the model again."
            ) from error
        except (AttributeError, KeyError) as error:  # from safetensors: numpy lacks the type
            raise CloptError(
                f"The weights file {path} has arrays of a type that numpy lacks ({error}); "
                "clopt wrote none; compile the model again."
            ) from error
        for key, array in arrays.items():
            if _content_key(array) != key:
                raise CloptError(
                    f'The weights file {path} is damaged (the content of "{key}" has changed); '
                    "compile the model again."
                )
            array.flags.writeable = False
            store._arrays[key] = array
        return store


def _place(array: Array) -> object:
    """Return what is equal for arrays of the same elements in the same memory."""
    address, _ = array.__array_interface__["data"]
    return address, array.dtype.str, array.shape, array.strides


def _content_key(array: Array) -> str:
    """Return `w_` and hexadecimal digits that depend only on the array's type, shape and bytes."""
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if content.size <= _PIECE:
        digest.update(content.data if array.size else b"")
    else:
        for start in range(0, content.size, _PIECE):
            digest.update(_checksums(content[start : start + _PIECE]))
    return f"w_{digest.hexdigest()[:_DIGITS]}"


def _checksums(piece: Array) -> bytes:
    words = piece[: piece.size // 8 * 8].view(np.uint64)
    return crc32(piece.data).to_bytes(4) + words.sum(dtype=np.uint64).tobytes()
