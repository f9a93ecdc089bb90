"""Compare networks of twenty families with onnxruntime at random sizes, with every dimension open.

`python benchmarks/open_models.py [names] [--device pocl] [--sizes 5] [--output FILE]`. An error is
relative to the largest output. A row tells how long the first inference at each size took, which
compiles; run the script on a quiet machine.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import random
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import onnxruntime
import torch
from open_networks import NETWORKS, OpenNetwork
from provenance import measured

import clopt
from clopt.errors import CloptWarning

ALLOWED = 1e-5
"""The largest error of a right result, relative to the largest output."""


@dataclass(frozen=True)
class Row:
    """One network at several sizes."""

    name: str
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
        verdict = f"{self.right} of {self.sizes}"
        error = f"{self.error:.0e}" if self.compiled else self.refusal
        return [self.name, f"`{self.inputs}`", verdict, error, str(len(self.compiled)), times]


def export(network: OpenNetwork, path: Path) -> None:
    """Export a network with all dimensions open except its fixed ones."""
    inputs = network.inputs(lambda least, most: least + 1)
    shapes = {
        name: {
            axis: torch.export.Dim.DYNAMIC
            for axis in range(tensor.ndim)
            if f"{name}.{axis}" not in network.fixed
        }
        for name, tensor in inputs.items()
    }
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.build().eval(),
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            dynamic_shapes=tuple(shapes.values()),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def error_of(got: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest error of an output; infinity for another shape."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return float("inf")
    if wanted.dtype.kind != "f":
        return float(np.any(got != wanted))
    return float(np.abs(got - wanted).max(initial=0) / max(np.abs(wanted).max(initial=0), 1e-30))


def measure(name: str, network: OpenNetwork, device: str, sizes: int, path: Path) -> Row:
    """Run a network at random sizes, twice each, the second time in another order."""
    torch.manual_seed(0)
    onnxruntime.set_default_logger_severity(4)
    rng = random.Random(name)
    export(network, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds: list[Mapping[str, np.ndarray]] = [
        {key: each.numpy() for key, each in network.inputs(rng.randint).items()}
        for _ in range(sizes)
    ]
    right, worst, compiled = 0, 0.0, []
    try:
        model = clopt.compile(path, device=device, use_cache=False)
        shown = ", ".join(map(str, model.inputs))
        for feed in [*feeds, *rng.sample(feeds, sizes)]:
            count, start = model_count(model), time.perf_counter()
            got = model.run(feed)
            if model_count(model) > count:
                compiled.append(time.perf_counter() - start)
            wanted = session.run(None, feed)
            error = max(map(error_of, got, wanted))
            worst = max(worst, error)
            right += error <= ALLOWED
    except clopt.CloptError as error:
        return Row(name, "", right, 2 * sizes, worst, compiled, str(error).splitlines()[0][:120])
    return Row(name, shown, right, 2 * sizes, worst, compiled)


def model_count(model: clopt.CompiledModel) -> int:
    """Return the number of programs that a model has compiled."""
    assert isinstance(model, clopt.DynamicModel)
    return model.programs


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="networks (default: all)")
    parser.add_argument("--device", default="intel")
    parser.add_argument("--sizes", type=int, default=5)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", CloptWarning)
    head = (
        "network",
        "inputs",
        "right",
        "largest error",
        "programs",
        "seconds of each",
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    print(*lines, sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or NETWORKS:
            path = Path(folder) / "network.onnx"
            row = measure(name, NETWORKS[name], args.device, args.sizes, path)
            lines.append(f"| {' | '.join(row.cells())} |")
            print(lines[-1], flush=True)
    if args.output is not None:
        title = f"# Twenty networks with open dimensions on {args.device}"
        args.output.write_text("\n".join([title, "", measured(), "", *lines]) + "\n")


if __name__ == "__main__":
    main()
