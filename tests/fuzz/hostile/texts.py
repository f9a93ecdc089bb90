"""Random damage to MLIR text, to saved folders and to the text that names a target."""

from __future__ import annotations

import hashlib
import json
import random
import re
from functools import cache
from pathlib import Path

import clopt
from clopt.targets import fact_types, target_names

from .values import ODD_NAMES, odd_float, odd_int

ROOT = Path(__file__).parents[3]

_TOKEN = re.compile(r"\"[^\"\n]*\"|[%@#!^]?[\w.$]+|->|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")

_ODD_TOKENS = ('"', '"\\', "{", "}", "(" * 3000, "<" * 3000, "[" * 3000, "//", "%0", "@x", "#", "!")
_ODD_WORDS = (
    "0x",
    "1.0e9999",
    "dense<>",
    "tensor<",
    "memref<?x-1xf32>",
    "\0",
    "\u202e",
    "-",
    "loc(",
)


@cache
def _corpus() -> list[str]:
    """Every piece of the lit tests: all operations of all dialects."""
    pieces: list[str] = []
    for path in sorted((ROOT / "lit_tests").rglob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        pieces += [re.sub(r"//.*", "", piece) for piece in text.split("// -----")]
    return [piece for piece in pieces if len(piece) < 8000]


def damaged(rng: random.Random, text: str, others: list[str] | None = None) -> str:
    """`text` with a few tokens or numbers changed, lost, doubled or from elsewhere."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        match rng.randrange(8):
            case 0:
                del tokens[at : at + rng.choice((1, 3, 20))]
            case 1:
                tokens[at:at] = tokens[at : at + rng.choice((1, 3, 20))]
            case 2:
                tokens[at] = rng.choice(tokens)
            case 3:
                tokens[at] = rng.choice((*_ODD_TOKENS, *_ODD_WORDS))
            case 4:
                del tokens[at:]
            case 5 if others:
                more = _TOKEN.findall(rng.choice(others))
                first = rng.randrange(len(more) or 1)
                tokens[at:at] = more[first : first + 10]
            case _:
                numbers = [i for i, token in enumerate(tokens) if _NUMBER.search(token)]
                if numbers:
                    at = rng.choice(numbers)
                    tokens[at] = _NUMBER.sub(lambda _: str(odd_int(rng)), tokens[at], count=1)
    return "".join(tokens)


def hostile_text(seed: int) -> str:
    """The MLIR that `seed` draws."""
    rng = random.Random(seed)
    corpus = _corpus()
    networks = [text for text in corpus if "func.func" in text and "= nn." in text]
    text = rng.choice(rng.choice((corpus, networks)))
    hostile = damaged(rng, text, corpus)
    # A few stay whole: almost nothing that is damaged compiles, and something must.
    return text if rng.random() < 0.1 else hostile


def hostile_target(seed: int) -> str:
    """The target, with facts, that `seed` draws."""
    rng = random.Random(seed)
    facts = rng.sample(sorted(fact_types()), rng.randint(1, 3))
    if rng.random() < 0.1:
        facts.append(rng.choice(ODD_NAMES))
    values = [
        rng.choice((str(odd_int(rng)), str(odd_float(rng)), "true", "off", "prefer", "", "1e400"))
        for _ in facts
    ]
    name = rng.choice(ODD_NAMES) if rng.random() < 0.05 else rng.choice(target_names())
    return " ".join([name, *(f"{k}={v}" for k, v in zip(facts, values, strict=True))])


def save_hostile(seed: int, folder: Path) -> None:
    """Write the saved model that `seed` draws: damaged, with digests that fit most of the time."""
    rng = random.Random(seed)
    model = ROOT / "examples" / "digits" / "digits.onnx"
    target = rng.choice(("pocl", "adreno-740 texture=prefer"))
    _saved(str(model), target).save(folder)
    names = sorted(path.name for path in folder.iterdir())
    name = rng.choice((*names, "program.mlir", "program.mlir"))
    path = folder / name
    if name.endswith(".safetensors") or rng.random() < 0.2:
        data = bytearray(path.read_bytes())
        at = rng.randrange(min(len(data), 400))
        data[at : at + rng.choice((0, 1, 8))] = rng.randbytes(rng.choice((0, 1, 8)))
        path.write_bytes(data[: rng.choice((len(data), at))])
    else:
        path.write_text(damaged(rng, path.read_text(encoding="utf-8")), encoding="utf-8")
    if rng.random() < 0.8 and name not in ("model.json", "weights.safetensors"):
        described = json.loads((folder / "model.json").read_text())
        described["files"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
        (folder / "model.json").write_text(json.dumps(described))
    if rng.random() < 0.05:
        path.unlink()


@cache
def _saved(model: str, target: str) -> clopt.CompiledModel:
    return clopt.compile(model, target, {"batch": 1})
