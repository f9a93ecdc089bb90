"""Runs a `tir.func` in Python: the meaning that kernels are tested against.

The kernel is translated to Python source, one statement per operation, over numpy scalars of the
stated types. Every access is checked against its buffer, and temporaries start with rubbish.
Textures are arrays of their physical shape; that every texel is written whole, and that no image is
both read and written, is checked, too.
While a kernel has blocks, loops of all kinds run serially. A lowered kernel runs as OpenCL would
run it: each work-item by itself, those of a group in lockstep from barrier to barrier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType

from clopt.dialects import tir
from clopt.dialects.cl import Target
from clopt.passes.tir.schedule.analysis import memref_of
from support.tir.images import check_image, texel_read, texel_write
from support.tir.translation import Translator


def _unsigned(x: Any) -> Any:
    return x.view(f"u{x.itemsize}") if isinstance(x, np.signedinteger) else x


def _signless(x: Any) -> Any:
    return x.view(f"i{x.itemsize}") if isinstance(x, np.unsignedinteger) else x


def _truncating_quotient(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("integer division by zero")
    quotient = abs(int(a)) // abs(int(b))
    return type(a)(quotient if (a < 0) == (b < 0) else -quotient)


def _load(buffer: np.ndarray, index: tuple[int, ...]) -> Any:
    _check(buffer, index)
    return buffer[index]


def _load_quad(buffer: np.ndarray, index: tuple[int, ...]) -> Any:
    """Four bytes, the first of them lowest; they start at a multiple of four."""
    *outer, first = index
    assert first % tir.QUAD == 0, "words are aligned"
    parts = [int(_load(buffer, (*outer, first + i))) & 255 for i in range(tir.QUAD)]
    return np.array(sum(part << 8 * i for i, part in enumerate(parts)), "u4").view("i4")[()]


def _dot(total: Any, a: Any, b: Any) -> Any:
    """The sum and four products of unsigned bytes and signed ones."""
    unsigned, signed = np.array(a).view(("u1", 4)), np.array(b).view(("i1", 4))
    return (total + unsigned.astype("i4") @ signed.astype("i4")).astype("i4")


def _store(buffer: np.ndarray, index: tuple[int, ...], value: Any) -> None:
    _check(buffer, index)
    same = isinstance(value, (bool, buffer.dtype.type)) or np.asarray(value).dtype == buffer.dtype
    assert same, "type of a store"
    buffer[index] = value


def _check(buffer: np.ndarray, index: tuple[int, ...]) -> None:
    """What numpy allows and no kernel may do; beyond the end numpy itself raises IndexError."""
    if len(index) != buffer.ndim:
        raise IndexError(f"{len(index)} indices of a buffer of shape {buffer.shape}")
    for i in index:
        if i < 0:
            raise IndexError(f"{index} is outside of a buffer of shape {buffer.shape}")


def _compare_floats(predicate: str, a: Any, b: Any) -> bool:
    if predicate in ("true", "false"):
        return predicate == "true"
    unordered = bool(np.isnan(a) or np.isnan(b))
    if predicate in ("ord", "uno"):
        return unordered == (predicate == "uno")
    if unordered:
        return predicate[0] == "u"
    return _ORDER[predicate[1:]](a, b)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: bool(a == b),
    "ne": lambda a, b: bool(a != b),
    "lt": lambda a, b: bool(a < b),
    "le": lambda a, b: bool(a <= b),
    "gt": lambda a, b: bool(a > b),
    "ge": lambda a, b: bool(a >= b),
}

BUILTINS: dict[str, Callable[..., Any]] = {
    "fmod": np.fmod,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "fma": lambda a, b, c: type(a)(np.float64(a) * np.float64(b) + np.float64(c)),
    "mad": lambda a, b, c: a * b + c,
    "native_exp": np.exp,
    "erf": lambda x: type(x)(math.erf(x)),
}
"""OpenCL builtins that `tir.call` may name."""


def _rubbish(shape: Sequence[int], dtype: str) -> np.ndarray:
    """A buffer whose contents are visibly wrong."""
    value = np.nan if np.dtype(dtype).kind == "f" else True if dtype == "bool" else -86
    return np.full(shape, value, dtype)


Watch = Callable[[Sequence[np.ndarray], dict[str, int]], Sequence[np.ndarray]]


def run(
    kernel: tir.FuncOp,
    arrays: Sequence[np.ndarray],
    limits: Target | None = None,
    watch: Watch | None = None,
) -> None:
    """Run a kernel on its arguments, of which unsigned ones are seen as signless.

    With `limits`, its images have to fit on that target. `watch` gives each work-item of a lowered
    kernel its arguments, for its OpenCL indices.
    """
    for param in kernel.params:
        check_image(param, limits)
    per_item = not any(isinstance(op, tir.BlockOp) for op in kernel.walk())
    translator = Translator(per_item)
    params = ", ".join(translator.name(param) for param in kernel.params)
    translator.emit(0, f"def kernel({params}, ids, shared):")
    translator.block(kernel.body.block, 1)
    if per_item:
        translator.emit(1, "yield")
    lanes: dict[tuple[Any, ...], set[int]] = {}
    scope: dict[str, Any] = {
        "np": np,
        "BUILTINS": BUILTINS,
        "load": _load,
        "load_quad": _load_quad,
        "dot": _dot,
        "store": _store,
        "texel_read": texel_read,
        "texel_write": texel_write,
        "lanes": lanes,
        "bounds": tir.rolled_bounds(kernel),
        "rubbish": _rubbish,
        "only": _only,
        "unsigned": _unsigned,
        "signless": _signless,
        "quotient": _truncating_quotient,
        "compare_floats": _compare_floats,
        "rsqrt": lambda x: type(x)(1) / np.sqrt(x),
    }
    exec("\n".join(translator.lines), scope)
    for param, array in zip(kernel.params, arrays, strict=True):
        assert isinstance(param.type, MemRefType)
        assert array.shape == param.type.get_shape(), "shape of an argument"
    args = [a.view(f"i{a.itemsize}") if a.dtype.kind == "u" else a for a in arrays]
    with np.errstate(all="ignore"):
        if per_item:
            own = watch or (lambda args, _: args)
            _launch(kernel, lambda ids, shared: scope["kernel"](*own(args, ids), ids, shared))
        else:
            scope["kernel"](*args, {}, {})
    whole = set(range(tir.TEXEL))
    assert all(written == whole for written in lanes.values()), "a texel is written whole"


def _only(index: int, extent: int) -> tuple[int]:
    assert index < extent, f"index {index} of a loop that runs to {extent}"
    return (index,)


def _launch(kernel: tir.FuncOp, start: Callable[[dict[str, int], dict[str, Any]], Any]) -> None:
    """Run every work-group of the kernel's index space, its work-items in lockstep."""
    global_size = [1, 1, 1]
    local_size = [1, 1, 1]
    for target, given in ((global_size, kernel.global_size), (local_size, kernel.local_size)):
        sizes = [] if given is None else [int(n) for n in given.iter_values()]
        target[: len(sizes)] = sizes
    assert all(g % n == 0 for g, n in zip(global_size, local_size, strict=True))
    groups = [g // n for g, n in zip(global_size, local_size, strict=True)]
    done = object()
    for group in product(*map(range, groups)):
        shared: dict[str, Any] = {}
        items = [
            start(_ids(group, local, local_size), shared)
            for local in product(*map(range, local_size))
        ]
        ended = 0
        while not ended:
            ended = sum(next(item, done) is done for item in items)
        assert ended == len(items), "work-items of a group met different barriers"


def _ids(group: Sequence[int], local: Sequence[int], size: Sequence[int]) -> dict[str, int]:
    ids: dict[str, int] = {}
    for axis, g, t, n in zip("xyz", group, local, size, strict=True):
        ids |= {f"group_{axis}": g, f"local_{axis}": t, f"global_{axis}": g * n + t}
    return ids


def results(kernel: tir.FuncOp) -> list[np.ndarray]:
    """All arguments after a run on small integers, whose sums are exact."""
    random = np.random.default_rng(1)
    shapes = [memref_of(param).get_shape() for param in kernel.params]
    arrays = [random.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    run(kernel, arrays)
    return arrays
