"""Random kernels as the lowering makes them: stages of naive loops, one after the other.

A stage reads the one before it, dimension by dimension: straight, backwards, in steps, through a
window with or without a border, merged, taken apart, reduced, or at one place. It may combine that
with another stage or with a parameter. All values are small integers, so every order of operations
gives the same bits; `_Stage.largest` bounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

LARGEST = 1 << 22
"""No value of a kernel is larger: floats hold all integers up to 2^24."""

POINTS = 2000
"""How many points a stage has at the most: kernels run in Python, too."""


@dataclass(frozen=True)
class Buffer:
    """A parameter or a temporary."""

    name: str
    shape: tuple[int, ...]
    largest: int

    def type(self, element: str) -> str:
        return f"memref<{''.join(f'{n}x' for n in self.shape)}{element}>"


@dataclass
class _Stage:
    """The iteration variables of a stage, and where it reads its source."""

    spatial: list[int] = field(default_factory=list[int])
    reduce: list[int] = field(default_factory=list[int])
    indices: list[str] = field(default_factory=list[str])
    """Affine expressions over s0, s1, ... and r0, r1, ..."""
    guards: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Positions of indices that may be outside, with the size of that dimension."""

    def add(self, extent: int) -> str:
        self.spatial.append(extent)
        return f"s{len(self.spatial) - 1}"

    def sum_over(self, extent: int) -> str:
        self.reduce.append(extent)
        return f"r{len(self.reduce) - 1}"


def _straight(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    return stage.add(size)


def _backwards(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    return f"{size - 1} - {stage.add(size)}"


def _in_steps(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    step = int(rng.integers(2, 4))
    return f"{stage.add((size - 1) // step + 1)} * {step}"


def _window(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    taps = int(rng.integers(1, min(size, 3) + 1))
    return f"{stage.add(size - taps + 1)} + {stage.sum_over(taps)}"


def _border(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    taps, step = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    stage.guards.append((len(stage.indices), size))
    return f"{stage.add((size - 1) // step + 1)} * {step} + {stage.sum_over(taps)} - 1"


def _shifted(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    stage.guards.append((len(stage.indices), size))
    return f"{stage.add(size + 1)} - {int(rng.integers(0, 3))}"


def _reduced(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    return stage.sum_over(size)


def _apart(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    factors = [n for n in range(1, size + 1) if size % n == 0]
    inner = int(rng.choice(factors))
    make: Callable[[int], str] = stage.sum_over if rng.random() < 0.3 else stage.add
    return f"{stage.add(size // inner)} * {inner} + {make(inner)}"


def _one_place(stage: _Stage, size: int, rng: np.random.Generator) -> str:
    return str(int(rng.integers(0, size)))


_FORMS = (
    *(_straight, _straight, _straight, _reduced, _reduced, _backwards, _in_steps, _window),
    *(_border, _shifted, _apart, _one_place),
)

_COMBINE = {"add": "addf addi", "mul": "mulf muli", "max": "maximumf maxsi"}


def random_nest(rng: np.random.Generator) -> str:
    """The text of a `tir.func` called @nest."""
    return _Nest(rng).text()


class _Nest:
    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.element = str(rng.choice(["f32", "i32"]))
        self.params: list[Buffer] = []
        self.temporaries: list[Buffer] = []
        self.stages: list[str] = []
        self.outputs: list[Buffer] = []

    def text(self) -> str:
        shape = tuple(int(n) for n in self.rng.integers(1, 8, self.rng.integers(1, 4)))
        source = self._param(shape)
        count = int(self.rng.integers(1, 5))
        for number in range(count):
            source = self._stage(source, number, last=number == count - 1)
        for stray in [t for t in self.temporaries if t is not source and not self._is_read(t)]:
            self._copy(stray)
        params = [*self.params, *self.outputs]
        listed = ", ".join(f"%{p.name}: {p.type(self.element)}" for p in params)
        outputs = ", ".join(str(i) for i in range(len(self.params), len(params)))
        inputs = ", ".join(str(i) for i in range(len(self.params)))
        allocas = "".join(
            f"  %{t.name} = memref.alloca() : {t.type(self.element)}\n" for t in self.temporaries
        )
        return (
            f"tir.func @nest({listed}) attributes {{outputs = array<i64: {outputs}>, "
            f"constants = array<i64: {inputs}>}} {{\n{allocas}{''.join(self.stages)}}}\n"
        )

    def _is_read(self, buffer: Buffer) -> bool:
        return any(f"memref.load %{buffer.name}[" in stage for stage in self.stages)

    def _param(self, shape: tuple[int, ...]) -> Buffer:
        self.params.append(Buffer(f"x{len(self.params)}", shape, 4))
        return self.params[-1]

    def _stage(self, source: Buffer, number: int, last: bool) -> Buffer:
        stage = self._access(source)
        order = [int(i) for i in self.rng.permutation(len(stage.spatial))]
        shape = tuple(stage.spatial[i] for i in order)
        target_indices = [f"s{i}" for i in order]
        steps = prod(stage.reduce)
        operation = str(self.rng.choice(["add", "add", "max"]))
        body, largest = self._value(source, stage, number)
        if steps > 1 and operation == "add" and largest * steps > LARGEST:
            operation = "max"
        reduces = bool(stage.reduce)
        if reduces and operation == "add":
            largest *= steps
        name = f"y{len(self.outputs)}" if last else f"t{number}"
        target = Buffer(name, shape, largest)
        (self.outputs if last else self.temporaries).append(target)
        self._emit(f"b{number}", stage, body, operation if reduces else "", target, target_indices)
        return target

    def _copy(self, buffer: Buffer) -> None:
        """An output for a temporary that nobody reads."""
        stage = _Stage(list(buffer.shape))
        indices = [f"s{i}" for i in range(len(buffer.shape))]
        target = Buffer(f"y{len(self.outputs)}", buffer.shape, buffer.largest)
        self.outputs.append(target)
        body = [*_load("v", buffer, indices, self.element)]
        self._emit(f"c{len(self.outputs)}", stage, body, "", target, indices)

    def _access(self, source: Buffer) -> _Stage:
        """Some way to read `source` in not too many points."""
        while True:
            stage, dims = _Stage(), list(source.shape)
            while dims:
                if len(dims) > 1 and self.rng.random() < 0.1:
                    merged = stage.add(dims[0] * dims[1])
                    stage.indices += [f"{merged} floordiv {dims[1]}", f"{merged} mod {dims[1]}"]
                    dims = dims[2:]
                    continue
                form = _FORMS[self.rng.integers(len(_FORMS))]
                # The position of an index that may be outside is that of the next one.
                stage.indices.append(form(stage, dims.pop(0), self.rng))
            if self.rng.random() < 0.2 or not stage.spatial:
                stage.add(int(self.rng.integers(1, 5)))
            small = len(stage.spatial) <= 4 and len(stage.reduce) <= 3
            if small and prod(stage.spatial) * prod(stage.reduce) <= POINTS:
                return stage

    def _value(self, source: Buffer, stage: _Stage, number: int) -> tuple[list[str], int]:
        """Statements that leave the new value in %v, and how large it is."""
        body = _load("v", source, stage.indices, self.element, stage.guards)
        largest = source.largest
        choice = self.rng.random()
        if choice < 0.3:  # another parameter, over some of the variables
            names = [*(f"s{i}" for i in range(len(stage.spatial)))]
            names += [f"r{i}" for i in range(len(stage.reduce))]
            extents = [*stage.spatial, *stage.reduce]
            count = int(self.rng.integers(1, 4))
            picked = sorted(int(i) for i in self.rng.permutation(len(names))[:count])
            other = self._param(tuple(extents[i] for i in picked))
            indices = [names[i] for i in picked]
        elif choice < 0.5:  # an earlier stage of the same shape as what is read
            others = [t for t in self.temporaries if t.shape == source.shape and t != source]
            if not others:
                return body, largest
            other, indices = others[self.rng.integers(len(others))], stage.indices
            if stage.guards:
                return body, largest
        else:
            return body, largest
        body += _load("w", other, indices, self.element)
        operation = str(self.rng.choice(["add", "mul", "max"]))
        if operation == "mul" and largest * other.largest > LARGEST // 64:
            operation = "max"
        largest = largest * other.largest if operation == "mul" else largest + other.largest
        body.append(f"%u = {self._op(operation)} %v, %w : {self.element}")
        return [*body, "=u"], largest

    def _op(self, operation: str) -> str:
        floats, integers = _COMBINE[operation].split()
        return f"arith.{floats if self.element == 'f32' else integers}"

    def _emit(
        self,
        label: str,
        stage: _Stage,
        body: list[str],
        reduction: str,
        target: Buffer,
        indices: Sequence[str],
    ) -> None:
        value = "u" if body[-1] == "=u" else "v"
        lines = [line for line in body if line != "=u"]
        at = ", ".join(f"%{i}" for i in indices)
        type_ = target.type(self.element)
        if reduction:
            lines.append(f"%old = memref.load %{target.name}[{at}] : {type_}")
            lines.append(f"%new = {self._op(reduction)} %old, %{value} : {self.element}")
            value = "new"
        lines.append(f"memref.store %{value}, %{target.name}[{at}] : {type_}")
        names = [f"s{i}" for i in range(len(stage.spatial))]
        names += [f"r{i}" for i in range(len(stage.reduce))]
        extents = [*stage.spatial, *stage.reduce]
        heads = "".join(
            f"tir.for {'serial' if name[0] == 'r' else 'parallel'} %l{name} = 0 to {n} {{ "
            for name, n in zip(names, extents, strict=True)
        )
        iters = ", ".join(
            f"%{name}: {'reduce' if name[0] == 'r' else 'spatial'} {n}"
            for name, n in zip(names, extents, strict=True)
        )
        dims = ", ".join(f"d{i}" for i in range(len(names)))
        loops = ", ".join(f"%l{name}" for name in names)
        start = ""
        if reduction:
            start = "0" if reduction == "add" else "-9999999"
            start = f"init [{start}{'.0' if self.element == 'f32' else ''} : {self.element}] "
        inner = "\n    ".join(lines)
        self.stages.append(
            f'  {heads}tir.block "{label}" ({iters}) = affine_map<({dims}) -> ({dims})> ({loops}) '
            f"{start}{{\n    {inner}\n  }} {'}' * len(names)}\n"
        )


def _load(
    name: str,
    buffer: Buffer,
    indices: Sequence[str],
    element: str,
    guards: Sequence[tuple[int, int]] = (),
) -> list[str]:
    """Statements that load an element, or zero where a guarded index is outside."""
    lines: list[str] = []
    values: list[str] = []
    for position, index in enumerate(indices):
        words = [w for w in index.split() if w[0] in "sr"]
        if index == (words[0] if words else ""):
            values.append(f"%{index}")
            continue
        dims = {word: f"d{i}" for i, word in enumerate(words)}
        expr = " ".join(dims.get(word, word) for word in index.split())
        value = f"%{name}i{position}"
        args = ", ".join(f"%{word}" for word in words)
        lines.append(
            f"{value} = affine.apply affine_map<({', '.join(dims.values())}) -> ({expr})> ({args})"
            if words
            else f"{value} = arith.constant {index} : index"
        )
        values.append(value)
    load = f"memref.load %{buffer.name}[{', '.join(values)}] : {buffer.type(element)}"
    if not guards:
        return [*lines, f"%{name} = {load}"]
    inside: list[str] = []
    for position, size in guards:
        low, high = f"%{name}low{position}", f"%{name}high{position}"
        above, below = f"%{name}ge{position}", f"%{name}lt{position}"
        lines += [
            f"{low} = arith.constant 0 : index",
            f"{high} = arith.constant {size} : index",
            f"{above} = arith.cmpi sge, {values[position]}, {low} : index",
            f"{below} = arith.cmpi slt, {values[position]}, {high} : index",
        ]
        inside += [above, below]
    condition = inside[0]
    for i, other in enumerate(inside[1:]):
        lines.append(f"%{name}and{i} = arith.andi {condition}, {other} : i1")
        condition = f"%{name}and{i}"
    zero = "0.0 : f32" if element == "f32" else f"0 : {element}"
    lines.append(
        f"%{name} = scf.if {condition} -> ({element}) {{ %{name}l = {load} "
        f"scf.yield %{name}l : {element} }} else {{ %{name}z = arith.constant {zero} "
        f"scf.yield %{name}z : {element} }}"
    )
    return lines
