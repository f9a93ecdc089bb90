"""Compare token generation with onnxruntime, by a decoder that appends to its key-value cache.

`python benchmarks/decoding.py [--device intel] [--tokens 256] [--output FILE]`. Both generate the
same tokens twice. The first pass of clopt proves that the program for all tokens computes each
step; the second pass finds the proofs in memory. Runs alternate at each step, on two threads.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import onnxruntime
import torch
from provenance import measured
from torch import Tensor, nn

import clopt
from clopt.errors import CloptWarning

WIDTH, HEADS, LAYERS, WORDS = 256, 4, 4, 2000
LONGEST = 512
ALLOWED = 1e-4
"""The largest error of a right step, relative to the largest element of an output."""


class DecoderLayer(nn.Module):
    """A layer of GPT-2 (Radford et al., 2019) for one new token."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.projection, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        joint = self.projection(self.norm1(x)).reshape(1, 1, 3, HEADS, WIDTH // HEADS)
        query, key, value = joint.permute(2, 0, 3, 1, 4).unbind(0)
        keys, values = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        scores = query @ keys.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
        mixed = torch.softmax(scores, -1) @ values
        x = x + self.out(mixed.transpose(1, 2).reshape(1, 1, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x)))), keys, values


class Decoder(nn.Module):
    """The next token's logits, and the keys and values of all layers with the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.positions = nn.Parameter(torch.randn(LONGEST, WIDTH))
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, token: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
        place = keys.shape[3]
        x = self.words(token) + self.positions[place : place + 1]
        caches: list[tuple[Tensor, Tensor]] = []
        for i, layer in enumerate(self.layers):
            x, *cache = layer(x, keys[i], values[i])
            caches.append((cache[0], cache[1]))
        new = (torch.stack(each) for each in zip(*caches, strict=True))
        return self.head(self.norm(x)), *new


def export(path: Path) -> None:
    """Export the decoder with an open number of past tokens."""
    torch.manual_seed(0)
    caches = torch.randn(2, LAYERS, 1, HEADS, 5, WIDTH // HEADS)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Decoder().eval(),
            (torch.zeros(1, 1, dtype=torch.int64), *caches),
            str(path),
            input_names=["token", "keys", "values"],
            dynamic_shapes=(None, {3: torch.export.Dim.DYNAMIC}, {3: torch.export.Dim.DYNAMIC}),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


Step = Callable[[dict[str, np.ndarray]], list[np.ndarray]]


@dataclass
class Generation:
    """The tokens that a runtime generates, one step after another."""

    run: Step
    feed: dict[str, np.ndarray]
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @staticmethod
    def begin(run: Step) -> Generation:
        """Begin with one past token."""
        caches = np.random.default_rng(0).standard_normal((2, LAYERS, 1, HEADS, 1, WIDTH // HEADS))
        keys, values = caches.astype(np.float32)
        return Generation(run, {"token": np.array([[7]]), "keys": keys, "values": values})

    def step(self) -> list[np.ndarray]:
        """Generate a token, and return the outputs."""
        start = time.perf_counter()
        logits, keys, values = self.run(self.feed)
        self.seconds.append(time.perf_counter() - start)
        token = logits.argmax(-1)
        self.tokens.append(token.item())
        self.feed = {"token": token, "keys": keys, "values": values}
        return [logits, keys, values]


def generate(ours: Step, theirs: Step, tokens: int) -> tuple[Generation, Generation, float]:
    """Generate tokens on both; return the largest error of a step."""
    mine, other = Generation.begin(ours), Generation.begin(theirs)
    worst = 0.0
    for _ in range(tokens):
        for a, b in zip(mine.step(), other.step(), strict=True):
            worst = max(worst, float(np.abs(a - b).max() / np.abs(b).max()))
    return mine, other, worst


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="intel")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", CloptWarning)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.onnx"
        export(path)
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        open_ = clopt.compile(path, device=args.device, use_cache=False)
        past = open_.inputs[1].symbols[3]
        model = clopt.compile(
            path, device=args.device, dims={past: (1, args.tokens, args.tokens)}, use_cache=False
        )
        assert isinstance(model, clopt.DynamicModel)
        passes = [
            generate(model.run, lambda feed: session.run(None, feed), args.tokens) for _ in range(2)
        ]
        programs = model.programs
    lines = [
        "| pass | right tokens | largest error | programs | ms, median | onnxruntime, ms | ratio |"
    ]
    lines.append("|---" * 7 + "|")
    for name, (mine, other, worst) in zip(("first", "second"), passes, strict=True):
        right = sum(a == b for a, b in zip(mine.tokens, other.tokens, strict=True))
        a, b = (1e3 * median(each.seconds) for each in (mine, other))
        cells = [name, f"{right} of {args.tokens}", f"{worst:.0e}", str(programs)]
        lines.append(f"| {' | '.join([*cells, f'{a:.2f}', f'{b:.2f}', f'{a / b:.2f}'])} |")
    print(*lines, sep="\n")
    if args.output is not None:
        title = f"# A decoder that generates {args.tokens} tokens, {args.device}"
        args.output.write_text("\n".join([title, "", measured(), "", *lines]) + "\n")
    if any(worst > ALLOWED for *_, worst in passes):
        raise SystemExit("a step is wrong")


if __name__ == "__main__":
    main()
