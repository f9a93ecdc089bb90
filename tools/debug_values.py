"""`clopt-run --debug-accuracy` and `--nan`: find the first node whose values are wrong."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console

from ..api import CompiledModel
from ..errors import CloptError
from ..frontends.onnx.values import ModelWithValues, NodeValue
from ..messages.printable import printable
from ..tuning.places import database_beside
from .inputs import Array
from .json_output import print_json, without_infinities
from .models import ModelSource, compile_model
from .reference import difference, run_onnxruntime, tolerance
from .tables import table

_WORDS = re.compile(r"[;,.] ")
"""What stands between the nodes in a kernel's comment."""

IsWrong = Callable[[str, Array], bool]
"""Tells whether the array of a value, by its name, differs from the reference."""

SHOWN = 5
"""Values before the wrong one that the table shows."""


@dataclass(frozen=True)
class Observed:
    """A network that ran with some of its values as outputs."""

    arrays: Mapping[str, Array]
    model: CompiledModel

    def kernels_of(self, value: NodeValue) -> list[str]:
        """Return the names of the kernels that compute the node of a value."""
        kernels = self.model.describe().kernels
        return [each.name for each in kernels if value.node in _WORDS.split(each.nodes)]


Observe = Callable[[Sequence[str]], Observed]
"""Compiles and runs the network with values of these names as further outputs."""


def first_wrong(
    values: Sequence[NodeValue], outputs: Sequence[str], observe: Observe, is_wrong: IsWrong
) -> tuple[NodeValue, Observed] | None:
    """Return the first wrong value and a run that shows it, or None if no output is wrong.

    If every value is an output, each kernel computes hardly more than one node. If that run is
    right, the mistake depends on fusion. Then the network runs with one additional output at a
    time, and bisection over the order of computation finds a wrong value behind a right one.
    """
    every = observe([value.name for value in values])
    for value in values:
        if is_wrong(value.name, every.arrays[value.name]):
            return value, every
    alone = observe([])
    wrong = [name for name in outputs if is_wrong(name, alone.arrays[name])]
    if not wrong:
        return None
    candidates = _needed_by(wrong[0], values)
    right, end, shown = -1, len(candidates) - 1, alone
    while end - right > 1:
        middle = (right + end) // 2
        name = candidates[middle].name
        run = observe([name])
        if is_wrong(name, run.arrays[name]):
            end, shown = middle, run
        else:
            right = middle
    return candidates[end], shown


def _needed_by(output: str, values: Sequence[NodeValue]) -> list[NodeValue]:
    """Return an output and the values that it is computed from, in the order of `values`."""
    needed, found = {output}, list[NodeValue]()
    for value in reversed(values):
        if value.name in needed:
            needed.update(value.inputs)
            found.append(value)
    return found[::-1]


class _Network:
    """The model of the command line, which can run with any of its values as outputs."""

    def __init__(
        self,
        options: argparse.Namespace,
        source: ModelSource,
        inputs: Mapping[str, Array],
        folder: Path,
        arguments: Mapping[str, Any],
    ) -> None:
        assert isinstance(source.content, Path | bytes)  # `load_model` refused a module
        self.exposed = ModelWithValues(source.content, folder)
        self.inputs = inputs
        self._options, self._arguments = options, arguments
        self._source = replace(source, content=self.exposed.path)
        if (
            isinstance(source.content, Path)
            and (beside := database_beside(source.content)).exists()
        ):
            database_beside(self.exposed.path).write_bytes(beside.read_bytes())

    def observe(self, names: Sequence[str]) -> Observed:
        """Return the arrays of the outputs and of the values of these names."""
        outputs = self.exposed.write(names)
        model = compile_model(self._source, self._options, **self._arguments)
        given = {port.name: self.inputs[port.name] for port in model.inputs}
        return Observed(dict(zip(outputs, model.run(given), strict=True)), model)

    def reference(self, names: Sequence[str]) -> dict[str, Array]:
        """Return the same arrays as onnxruntime computes them."""
        outputs = self.exposed.write(names)
        return dict(zip(outputs, run_onnxruntime(self.exposed.path, self.inputs), strict=True))


def debug_accuracy(
    console: Console,
    options: argparse.Namespace,
    source: ModelSource,
    inputs: Mapping[str, Array],
    arguments: Mapping[str, Any],
) -> None:
    """Compare each value with onnxruntime's; raise CloptError about the first wrong node."""
    with TemporaryDirectory(prefix="clopt-values-") as folder:
        network = _Network(options, source, inputs, Path(folder), arguments)
        values = network.exposed.values
        references = network.reference([value.name for value in values])
        allowed: dict[str, float] = {}

        def observe(names: Sequence[str]) -> Observed:
            run = network.observe(names)
            for port, name in zip(run.model.outputs, run.arrays, strict=True):
                allowed[name] = (
                    options.tolerance
                    if options.tolerance is not None
                    else tolerance(port.dtype, run.model.module)
                )
            return run

        def is_wrong(name: str, ours: Array) -> bool:
            return difference(ours, references[name]).relative > allowed[name]

        found = first_wrong(values, network.exposed.outputs, observe, is_wrong)
        if found is None:
            return _say_right(console, options, source, len(values))
        value, run = found
        facts = _facts(value, run, references, allowed[value.name])
        if options.json:
            print_json({"model": source.name, "right": False, **without_infinities(facts)})
        else:
            _print_errors(console, values, value, run, references)
        raise CloptError(_sentence(source, value, facts))


def _say_right(
    console: Console, options: argparse.Namespace, source: ModelSource, count: int
) -> None:
    if options.json:
        return print_json({"model": source.name, "right": True, "values": count})
    console.print(f"{count} values of {source.name} agree with onnxruntime.", soft_wrap=True)


def _facts(
    value: NodeValue, run: Observed, references: Mapping[str, Array], allowed: float
) -> dict[str, Any]:
    ours, reference = run.arrays[value.name], references[value.name]
    inputs = [name for name in value.inputs if name in run.arrays]
    facts: dict[str, Any] = {
        "value": value.name,
        "node": value.node,
        "operator": value.op_type,
        "relative_error": difference(ours, reference).relative,
        "allowed": allowed,
        "relative_error_of_inputs": {
            name: difference(run.arrays[name], references[name]).relative for name in inputs
        },
        "kernels": run.kernels_of(value),
    }
    if ours.shape == reference.shape and ours.size:
        worst = _worst(ours, reference)
        facts["worst"] = {
            "index": [int(i) for i in worst],
            "ours": ours[worst].item(),
            "reference": reference[worst].item(),
        }
    return facts


def _worst(ours: Array, reference: Array) -> tuple[np.intp, ...]:
    """Return the index of the element with the largest error; a NaN on one side comes first."""
    a, b = ours.astype(np.float64), reference.astype(np.float64)
    with np.errstate(invalid="ignore"):
        far = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b))
    return np.unravel_index(np.argmax(np.nan_to_num(far, nan=np.inf)), ours.shape)


def _sentence(source: ModelSource, value: NodeValue, facts: Mapping[str, Any]) -> str:
    kernels = ", ".join(f"@{name}" for name in facts["kernels"])
    where = f", computed by {kernels}" if kernels else ""
    worst = facts.get("worst")
    example = (
        f" At {worst['index']} it is {worst['ours']:.9g} and should be {worst['reference']:.9g}."
        if worst
        else ""
    )
    return (
        f"{source.name}: the first value that differs from onnxruntime is "
        f"'{printable(value.name)}' of {value.label}{where}: by {facts['relative_error']:.3g} of "
        f"its largest value, more than {facts['allowed']:g} (--tolerance).{example}"
    )


def _print_errors(
    console: Console,
    values: Sequence[NodeValue],
    wrong: NodeValue,
    run: Observed,
    references: Mapping[str, Array],
) -> None:
    rows = table("value", "node", "operator", "relative error", cut=("value", "node"))
    seen = [value for value in values if value.name in run.arrays]
    end = seen.index(wrong) + 1
    for value in seen[max(0, end - 1 - SHOWN) : end]:
        relative = difference(run.arrays[value.name], references[value.name]).relative
        names = (printable(text) for text in (value.name, value.node, value.op_type))
        rows.add_row(*names, f"{relative:.3g}")
    console.print(rows)


def find_nan(
    console: Console,
    options: argparse.Namespace,
    source: ModelSource,
    inputs: Mapping[str, Array],
    arguments: Mapping[str, Any],
) -> None:
    """Raise CloptError that names the first node with a NaN or an infinity from finite inputs."""
    with TemporaryDirectory(prefix="clopt-values-") as folder:
        network = _Network(options, source, inputs, Path(folder), arguments)
        run = network.observe([value.name for value in network.exposed.values])
    given = sorted(name for name, array in inputs.items() if not _is_finite(array))
    if given:
        raise CloptError(f"{source.name}: the input {given[0]} has values that are not finite.")
    constants = network.exposed.not_finite()
    wrong = {name for name, array in run.arrays.items() if not _is_finite(array)} | constants
    for value in network.exposed.values:
        if value.name in wrong and wrong.isdisjoint(value.inputs):
            if options.json:
                facts = {"value": value.name, "node": value.node, "operator": value.op_type}
                print_json({"model": source.name, "right": False, **facts})
            raise CloptError(_not_finite(source, value, run))
    found = sorted(wrong - constants)
    if options.json:
        return print_json({"model": source.name, "right": True, "from_constants": found})
    told = (
        f"{len(found)} of {len(run.arrays)} values of {source.name} are not finite; they come from "
        "constants that are not."
        if found
        else f"{len(run.arrays)} values of {source.name} are finite."
    )
    console.print(told, soft_wrap=True)


def _is_finite(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _not_finite(source: ModelSource, value: NodeValue, run: Observed) -> str:
    array = run.arrays[value.name]
    index = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
    nans, infinities = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    ranges = [
        f"'{printable(name)}' is {each.min():.6g} to {each.max():.6g}"
        for name in dict.fromkeys(value.inputs)
        if (each := run.arrays.get(name)) is not None and each.size
    ]
    between = f"; its input {' and '.join(ranges)}" if ranges else ""
    return (
        f"{source.name}: the first value that is not finite is '{printable(value.name)}' of "
        f"{value.label}: {nans} NaN and {infinities} infinite of {array.size}, the first at "
        f"{index}{between}."
    )
