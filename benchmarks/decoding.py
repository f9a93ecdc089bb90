"""Compare token generation with onnxruntime, by a decoder that appends to its key-value cache.

`python benchmarks/decoding.py [--device intel] [--tokens 256] [--output FILE]`. Both generate the
same tokens twice, clopt with caches that grow in place. Its first pass proves that the program for
all tokens computes each step; the second pass finds the proofs in memory. Steps alternate, on two
threads.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnxruntime
import pyopencl as cl
import pyopencl.array as cla
import torch
from provenance import measured
from torch import Tensor, nn

import clopt
from clopt.backends.pyopencl_runtime import find_device
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
    """The next token's logits, and the keys and values of each layer with the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.positions = nn.Parameter(torch.randn(LONGEST, WIDTH))
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, token: Tensor, caches: list[tuple[Tensor, Tensor]]) -> tuple[Any, ...]:
        place = caches[0][0].shape[2]
        x = self.words(token) + self.positions[place : place + 1]
        grown: list[tuple[Tensor, Tensor]] = []
        for layer, (keys, values) in zip(self.layers, caches, strict=True):
            x, keys, values = layer(x, keys, values)
            grown.append((keys, values))
        return self.head(self.norm(x)), grown


CACHES = [f"{name}{i}" for i in range(LAYERS) for name in ("keys", "values")]
GROWN = {f"new_{name}": name for name in CACHES}
"""The outputs that overwrite an input."""


def export(path: Path) -> None:
    """Export the decoder with an open number of past tokens."""
    torch.manual_seed(0)
    caches = [tuple(torch.randn(2, 1, HEADS, 5, WIDTH // HEADS).unbind()) for _ in range(LAYERS)]
    past = {2: torch.export.Dim("past", min=1, max=LONGEST - 1)}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Decoder().eval(),
            (torch.zeros(1, 1, dtype=torch.int64), caches),
            str(path),
            input_names=["token", *CACHES],
            output_names=["logits", *GROWN],
            dynamic_shapes=(None, [(past, past)] * LAYERS),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


class Theirs:
    """onnxruntime, which returns new caches after each step."""

    def __init__(self, path: Path, caches: Mapping[str, np.ndarray]) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 2
        self._session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        self.restart(caches)

    def restart(self, caches: Mapping[str, np.ndarray]) -> None:
        """Begin with caches of one token."""
        self.caches = dict(caches)

    def step(self, token: int) -> np.ndarray:
        """Return the logits of the token after this one."""
        logits, *grown = self._session.run(None, {"token": np.array([[token]]), **self.caches})
        self.caches = dict(zip(self.caches, grown, strict=True))
        return logits


class Ours:
    """clopt, with caches that grow in place on the device."""

    def __init__(
        self, path: Path, device: str, caches: Mapping[str, np.ndarray], room: int
    ) -> None:
        self._context = cl.Context([find_device(device).handle])  # a queue does not keep it alive
        self._queue = cl.CommandQueue(self._context)
        model = clopt.compile(
            path,
            device=clopt.Place(queue=self._queue),
            dims={"past": (1, room)},
            in_place=GROWN,
            use_cache=False,
        )
        assert isinstance(model, clopt.DynamicModel)
        self.model = model
        shape = (1, HEADS, room, WIDTH // HEADS)
        self._caches = {name: cla.zeros(self._queue, shape, np.float32) for name in caches}
        self._token = cla.zeros(self._queue, (1, 1), np.int64)
        self._logits = cla.zeros(self._queue, (1, 1, WORDS), np.float32)
        grown = {new: self._caches[name] for new, name in GROWN.items()}
        inputs = {"token": self._token, **self._caches}
        self._bound = {**inputs, "logits": self._logits, **grown}
        self.restart(caches)

    def restart(self, caches: Mapping[str, np.ndarray]) -> None:
        """Begin with caches of one token."""
        self._past = 1
        for name, array in self._caches.items():
            content = np.full(array.shape, np.nan, np.float32)
            content[:, :, :1] = caches[name]
            array.set(content, self._queue)

    @property
    def caches(self) -> dict[str, np.ndarray]:
        """The elements in use of the caches."""
        return {
            name: each.get(self._queue)[:, :, : self._past] for name, each in self._caches.items()
        }

    def step(self, token: int) -> np.ndarray:
        """Return the logits of the token after this one."""
        self._token.set(np.array([[token]]), self._queue)
        self.model.enqueue(self._queue, self._bound, dims={"past": self._past})
        self._past += 1
        return self._logits.get(self._queue)


@dataclass
class Generation:
    """The tokens that a runtime generates, one step after another."""

    runtime: Theirs | Ours
    tokens: list[int] = field(default_factory=lambda: [7])
    seconds: list[float] = field(default_factory=list[float])

    def step(self) -> np.ndarray:
        """Generate a token, and return its logits."""
        start = time.perf_counter()
        logits = self.runtime.step(self.tokens[-1])
        self.seconds.append(time.perf_counter() - start)
        self.tokens.append(int(logits.argmax()))
        return logits


def generate(ours: Ours, theirs: Theirs, tokens: int) -> tuple[Generation, Generation, float]:
    """Generate tokens on both; return the largest error of a step, and of the caches at the end."""
    mine, other = Generation(ours), Generation(theirs)
    pairs = [(mine.step(), other.step()) for _ in range(tokens)]
    caches = ours.caches
    pairs += [(caches[name], each) for name, each in theirs.caches.items()]
    return mine, other, max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="intel")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore", CloptWarning)
    rng = np.random.default_rng(0)
    caches = {
        name: rng.standard_normal((1, HEADS, 1, WIDTH // HEADS), np.float32) for name in CACHES
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.onnx"
        export(path)
        theirs = Theirs(path, caches)
        ours = Ours(path, args.device, caches, args.tokens + 1)
        passes: list[tuple[Generation, Generation, float]] = []
        for _ in range(2):
            ours.restart(caches)
            theirs.restart(caches)
            passes.append(generate(ours, theirs, args.tokens))
        programs = ours.model.programs
    lines = [
        "| pass | right tokens | largest error | programs | ms, median | onnxruntime, ms | ratio |"
    ]
    lines.append("|---" * 7 + "|")
    for name, (mine, other, worst) in zip(("first", "second"), passes, strict=True):
        right = sum(a == b for a, b in zip(mine.tokens[1:], other.tokens[1:], strict=True))
        a, b = (1e3 * median(each.seconds) for each in (mine, other))
        cells = [name, f"{right} of {args.tokens}", f"{worst:.0e}", str(programs)]
        lines.append(f"| {' | '.join([*cells, f'{a:.2f}', f'{b:.2f}', f'{a / b:.2f}'])} |")
    print(*lines, sep="\n")
    if args.output is not None:
        title = f"# A decoder that generates {args.tokens} tokens, {args.device}"
        args.output.write_text("\n".join([title, "", measured(), "", *lines]) + "\n")
    if any(not worst <= ALLOWED for *_, worst in passes):
        raise SystemExit("a step is wrong")


if __name__ == "__main__":
    main()
