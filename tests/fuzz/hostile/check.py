"""What may come of a hostile file: one sentence, or a program."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import clopt
from clopt.backends.pyopencl_runtime import Runnable
from clopt.backends.saved_model import load_model
from clopt.context import CloptContext
from clopt.errors import CloptError
from clopt.messages.source import Source, SourceModule
from clopt.model_contents import ModuleContents
from support.limits import OutOfTime, bounded

TARGETS = ("pocl", "adreno-740 texture=prefer", "generic")
SECONDS, GIBIBYTES = 20.0, 2.0
"""What one file may take, of CPU time and memory. Most take milliseconds."""

_LONGEST = 1500
"""Characters of a sentence."""


@dataclass(frozen=True)
class Outcome:
    """What became of a file."""

    verdict: str
    """`compiled`, `refused` or `fault`."""
    detail: str
    """The sentence, or what is wrong."""
    place: str = ""
    """Of a fault: the last line of ours in the traceback."""


def check_model(seed: int) -> Outcome:
    """Compile a hostile model to text, and now and then to folders."""
    from .models import hostile_model

    return judge(lambda: _compile_model(hostile_model(seed), seed))


def _compile_model(data: bytes, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(data)
        model = clopt.compile(path, TARGETS[seed % len(TARGETS)])
        _ = model.source
        if seed % 5 == 0:
            model.save(Path(folder) / "saved")
            load_model(Path(folder) / "saved")
            model.save_c(Path(folder) / "c")
            _ = str(model.memory)


def check_text(seed: int) -> Outcome:
    """Read hostile MLIR, verify it, print it and read it again, and compile what is a network."""
    from .texts import hostile_text

    return judge(lambda: _compile_text(hostile_text(seed), seed))


def _compile_text(text: str, seed: int) -> None:
    read = SourceModule.parse(CloptContext(), Source("text.mlir", text))
    read.verify()
    again = SourceModule.parse(CloptContext(), Source("again.mlir", str(read.module)))
    assert str(again.module) == str(read.module)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.mlir"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        model = clopt.compile(path, TARGETS[seed % len(TARGETS)])
        _ = model.source, str(model.memory)


def check_folder(seed: int) -> Outcome:
    """Load a hostile folder, up to the point where a device would run it."""
    from .texts import save_hostile

    def load() -> None:
        plans, weights = load_model(folder)
        for plan in plans:
            plan.module.verify()
        if seed % 4 == 0:
            model = clopt.CompiledModel(
                ModuleContents(plans[0].module, weights, plans[0].source), _no_device
            )
            model.save_c(folder.parent / "c")
            _ = str(model.memory)

    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "saved"
        save_hostile(seed, folder)
        return judge(load)


def _no_device() -> Runnable:
    raise AssertionError("a file that nobody trusts must not reach a device")


def check_target(seed: int) -> Outcome:
    """Compile for a hostile target."""
    from .texts import ROOT, hostile_target

    model = ROOT / "examples" / "digits" / "digits.onnx"

    def work() -> None:
        _ = clopt.compile(model, hostile_target(seed), {"batch": 1}).source

    return judge(work)


CHECKS: dict[str, Callable[[int], Outcome]] = {
    "models": check_model,
    "texts": check_text,
    "folders": check_folder,
    "targets": check_target,
}


def judge(work: Callable[[], None]) -> Outcome:
    """What comes of `work`, in bounded time and memory."""
    try:
        with bounded(SECONDS, GIBIBYTES):
            work()
    except CloptError as error:
        complaint = complaint_of(str(error))
        if complaint:
            return Outcome("fault", f"{complaint}: {error!s}", "a sentence")
        return Outcome("refused", str(error))
    except (Exception, OutOfTime) as error:
        return Outcome("fault", f"{type(error).__name__}: {error}"[:500], _place(error))
    return Outcome("compiled", "")


def complaint_of(text: str) -> str:
    """What is wrong with a sentence, or nothing."""
    for line in text.split("\n  "):
        if len(line) > _LONGEST:
            return f"{len(line)} characters"
        if not line.isprintable():
            return "unprintable characters"
    return ""


def _place(error: BaseException) -> str:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/clopt/" in frame.filename and "/tests/" not in frame.filename
    ]
    if not frames:
        return "elsewhere"
    last = frames[-1]
    return f"{last.filename.partition('/clopt/')[2]}:{last.lineno} {last.name}"
