"""Compare programs that serve any sequence length with static programs for each length.

`python benchmarks/open_sequences.py [--device pocl] [--sizes 40 128 300] [--usual 512]`. A length
runs on the program for the next quarter of a power of two, or with `--usual` on the one for that
length, with the work-items that it needs. Both programs take turns; run the script on a quiet
machine.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from statistics import geometric_mean

import networks
import numpy as np
import torch
from open_batches import Row, compared
from provenance import measured
from torch import Tensor, nn

import clopt
from clopt.errors import CloptWarning

LONGEST = 512
SIZES = (16, 40, 65, 100, 128, 200, 300, 400, 512)


class Encoder(networks.TextEncoder):
    """The text encoder of two layers with a position table for `LONGEST` tokens."""

    causal = False

    def __init__(self) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.randn(1, LONGEST, self.position.shape[2]))

    def forward(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        count = tokens.shape[1]
        bias = (1.0 - mask[:, None, None, :].to(torch.float32)) * -10000.0
        if self.causal:
            bias = bias + torch.full((LONGEST, LONGEST), -10000.0).triu(1)[:count, :count]
        x = self.norm(self.words(tokens) + self.position[:, :count])
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


class CausalEncoder(Encoder):
    """The same with attention to earlier tokens only."""

    causal = True


NETWORKS: dict[str, type[Encoder]] = {"encoder": Encoder, "causal": CausalEncoder}


def export(name: str, path: Path) -> None:
    """Export a network with an open sequence."""
    torch.manual_seed(0)
    tokens = torch.zeros(1, 77, dtype=torch.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            NETWORKS[name]().eval(),
            (tokens, tokens),
            str(path),
            input_names=["tokens", "mask"],
            dynamic_shapes=({1: torch.export.Dim.DYNAMIC}, {1: torch.export.Dim.DYNAMIC}),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def measure(name: str, path: Path, args: argparse.Namespace) -> list[Row]:
    """Time a network at several lengths."""
    model = clopt.compile(path, device=args.device)
    symbol = model.inputs[0].symbols[1]
    if args.usual:
        model = clopt.compile(path, device=args.device, dims={symbol: (1, args.usual, args.usual)})
    rng, rows = np.random.default_rng(0), list[Row]()
    for size in args.sizes:
        feed = {"tokens": rng.integers(0, 8192, (1, size)), "mask": np.ones((1, size), np.int64)}
        static = clopt.compile(path, device=args.device, dims={symbol: size})
        rows.append(compared(name, size, 1, (model, static), feed, args.rounds))
        print(f"| {' | '.join(rows[-1].cells())} |", flush=True)
    return rows


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="intel")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--usual", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", CloptWarning)
    head = ("network", "tokens", "program", "ms", "static, ms", "ratio", "difference", "memory")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    print(*lines, sep="\n")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in NETWORKS:
            path = Path(folder) / f"{name}.onnx"
            export(name, path)
            rows += measure(name, path, args)
    ratios = [row.ratio for row in rows]
    lines += [f"| {' | '.join(row.cells())} |" for row in rows]
    mean = f"Geometric mean {geometric_mean(ratios):.3f}, greatest {max(ratios):.3f}."
    print(mean)
    if args.output is not None:
        title = f"# Sequences of any length, {args.device}"
        text = "\n".join([title, "", measured(), "", mean, "", *lines])
        args.output.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
