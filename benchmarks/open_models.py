"""Compare models of many families with onnxruntime at random sizes, with every dimension open.

`python benchmarks/open_models.py [names] [--sets first vision] [--exporters dynamo TorchScript]
[--device pocl] [--sizes 5] [--output FILE]`. An error is relative to the largest output. A row
tells how long an inference took that compiled a program; run the script on a quiet machine.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnxruntime
import torch
from open_exporters import EXPORTERS, OpenModel, exported
from provenance import measured

import clopt
from clopt.errors import CloptWarning

ALLOWED = 1e-4
"""The largest error of a right result, relative to the largest output."""

SETS = {
    "first": ("open_networks", "NETWORKS"),
    "vision": ("open_vision", "VISION"),
    "language": ("open_language", "LANGUAGE"),
    "signals": ("open_signals", "SIGNALS"),
    "tables": ("open_tables", "ESTIMATORS"),
    "keras": ("open_keras", "KERAS"),
}
"""The module and the variable of each set. Only those that are named are imported."""

OTHERS = {"tables": "skl2onnx", "keras": "tf2onnx"}
"""The exporters of the sets that are not networks of PyTorch."""


@dataclass(frozen=True)
class Row:
    """One model at several sizes."""

    name: str
    exporter: str
    inputs: str
    right: int
    sizes: int
    error: float
    compiled: list[float]
    """The seconds of the first inference at each new size."""
    refusal: str = ""

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        times = f"{median(self.compiled):.1f}" if self.compiled else "-"
        verdict = f"{self.right} of {self.sizes}" if self.sizes else "-"
        error = self.refusal or f"{self.error:.0e}"
        inputs = f"`{self.inputs}`" if self.inputs else "-"
        return [
            *(self.name, self.exporter, inputs, verdict, error),
            *(str(len(self.compiled)), times),
        ]


def error_of(got: Any, wanted: Any) -> float:
    """Return the largest error of an output; infinity for another shape, or NaN elsewhere."""
    if isinstance(wanted, list):  # of dictionaries
        if [*map(list, got)] != [*map(list, wanted)]:
            return float("inf")
        got, wanted = (np.array([[*each.values()] for each in x]) for x in (got, wanted))
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return float("inf")
    if wanted.dtype.kind != "f":
        return float(np.any(got != wanted))
    numbers = ~np.isnan(wanted)
    if np.any(np.isnan(got) == numbers):
        return float("inf")
    got, wanted = got[numbers], wanted[numbers]
    return float(np.abs(got - wanted).max(initial=0) / max(np.abs(wanted).max(initial=0), 1e-30))


def measure(
    name: str, exporter: str, source: OpenModel, device: str, sizes: int, path: Path
) -> Row:
    """Run a model at random sizes, twice each, the second time in another order."""
    torch.manual_seed(0)
    rng = random.Random(name)
    empty = Row(name, exporter, "", 0, 0, 0.0, [])
    try:
        source.write(path)
        # The graph as it is: onnxruntime's fusions of a quantised PointNet are .24 off.
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        feeds: list[Mapping[str, np.ndarray]] = [source.inputs(rng.randint) for _ in range(sizes)]
        wanted = [session.run(None, feed) for feed in feeds]
    except Exception as error:  # the exporter or onnxruntime has no such model
        return _refused(empty, f"not exported: {_first_line(error)}")
    try:
        model = clopt.compile(path, device=device, use_cache=False)
        shown = ", ".join(map(str, model.inputs))
        order = [*range(sizes), *rng.sample(range(sizes), sizes)]
        worst, compiled = [], []
        for index in order:
            count, start = model_count(model), time.perf_counter()
            got = model.run(feeds[index])
            if model_count(model) > count:
                compiled.append(time.perf_counter() - start)
            worst.append(max(map(error_of, got, wanted[index])))
    except clopt.CloptError as error:
        return _refused(empty, f"refused: {_first_line(error)}")
    right = sum(error <= ALLOWED for error in worst)
    return Row(name, exporter, shown, right, len(order), max(worst), compiled)


def model_count(model: clopt.CompiledModel) -> int:
    """Return the number of programs that a model has compiled."""
    if isinstance(model, clopt.SequenceModel):
        model = model.stated()
    assert isinstance(model, clopt.DynamicModel)
    return model.programs


def _refused(row: Row, sentence: str) -> Row:
    return Row(row.name, row.exporter, "", 0, 0, 0.0, [], sentence)


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:160].replace("|", "/")


def models(of: str, exporters: Sequence[str]) -> list[tuple[str, str, OpenModel]]:
    """Return names, exporters and models of a set."""
    module, variable = SETS[of]
    imported = import_module(module)
    definitions: Mapping[str, object] = getattr(imported, variable)
    if of in OTHERS:
        return [(name, OTHERS[of], imported.model_of(name)) for name in definitions]
    return [
        (name, exporter, exported(network, exporter))
        for name, network in definitions.items()
        for exporter in exporters
    ]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models (default: all of the sets)")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["first"])
    parser.add_argument("--exporters", nargs="+", choices=EXPORTERS, default=["dynamo"])
    parser.add_argument("--device", default="intel")
    parser.add_argument("--sizes", type=int, default=5)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", CloptWarning)
    onnxruntime.set_default_logger_severity(4)
    clopt.list_devices()  # OpenCL runtimes crash if TensorFlow is loaded before them
    chosen = [each for of in args.sets for each in models(of, args.exporters)]
    wanted = [each for each in chosen if not args.names or each[0] in args.names]
    title = f"# Models with open dimensions on {args.device}"
    for lines in _tables(wanted, partial(measure, device=args.device, sizes=args.sizes)):
        if args.output is not None:
            args.output.write_text("\n".join([title, "", measured(), "", *lines]) + "\n")


def _tables(
    chosen: Sequence[tuple[str, str, OpenModel]], measure: Callable[..., Row]
) -> Iterator[list[str]]:
    """Print the rows of a table as they come; yield the lines so far."""
    head = ("model", "exporter", "inputs", "right", "largest error", "programs", "seconds of each")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    print(*lines, sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for index, (name, exporter, source) in enumerate(chosen):
            row = measure(name, exporter, source, path=Path(folder) / f"{index}.onnx")
            lines.append(f"| {' | '.join(row.cells())} |")
            print(lines[-1], flush=True)
            yield lines


if __name__ == "__main__":
    main()
