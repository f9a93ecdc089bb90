"""The error of one 3x3 convolution by Winograd's transforms and in the direct form.

`python benchmarks/winograd_errors.py [--device intel] [--write]` prints the largest error against
float64 in parts of the largest result, over random data with and without outliers of 10^4.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import onnx
import provenance
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.passes.nn import winograd

CHANNELS = (16, 64, 256, 512)
SHAPES = ((16, 16), (64, 28))
"""Output channels, and rows and columns of the map."""
FORMS = {"F(4,3)": (4,), "F(2,3)": (2,), "direct": ()}
RESULT = provenance.ROOT / "benchmarks" / "results" / "winograd_errors"


def _model(x: np.ndarray, w: np.ndarray) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)],
        "conv",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _exact(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.moveaxis(np.tensordot(windows, w.astype(np.float64), ([1, 4, 5], [1, 2, 3])), 3, 1)


def error(channels: int, form: str, device: str, seeds: int) -> float:
    """Return the largest error of a form over all seeds, shapes and data."""
    winograd.TILES = dict.fromkeys(winograd.TILES, FORMS[form])
    errors: list[float] = []
    for outputs, size in SHAPES:
        for seed in range(seeds):
            rng = np.random.default_rng(seed * 1000 + channels)
            x = rng.standard_normal((1, channels, size, size)).astype(np.float32)
            w = rng.standard_normal((outputs, channels, 3, 3)).astype(np.float32)
            wild = x.copy()
            wild.flat[rng.integers(0, x.size, x.size // 1000)] *= 1e4
            mode = "prefer" if FORMS[form] else "off"
            compiled = clopt.compile(_model(x, w), device=device, winograd=mode)
            for data in (x, wild):
                exact, (found,) = _exact(data, w), compiled.run([data])
                errors.append(float(np.abs(found - exact).max() / np.abs(exact).max()))
    return max(errors)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="intel")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--write", action="store_true", help="write the result files")
    args = parser.parse_args()
    lines = [f"| channels | {' | '.join(FORMS)} |", "|---:|---:|---:|---:|"]
    rows: dict[str, dict[str, float]] = {}
    for channels in CHANNELS:
        row = {form: error(channels, form, args.device, args.seeds) for form in FORMS}
        lines.append(f"| {channels} | {' | '.join(f'{e:.1e}' for e in row.values())} |")
        rows[str(channels)] = row
        print(lines[-1], flush=True)
    if args.write:
        head = [
            "# Errors of Winograd's transforms",
            "",
            provenance.measured(),
            f"Largest error of a 3x3 convolution over {args.seeds} seeds, in parts of the largest "
            "result.",
            "",
        ]
        RESULT.with_suffix(".md").write_text("\n".join([*head, *lines, ""]), encoding="utf-8")
        RESULT.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
