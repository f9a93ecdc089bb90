"""Every mistake gets a status and a sentence, crashes nothing and leaks nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.weights import Weights
from support import processes
from support.c.compilers import RUNTIME, STRICT, compilers
from support.cl.programs import ADD, WEIGHT, parse

TWICE = ADD.replace(
    "cl.enqueue_kernel @add(%x, %w, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>",
    """%arena = cl.arena : memref<144xi8>
  %t = cl.buffer_view %arena[128] : memref<4xf32>
  cl.enqueue_kernel @add(%x, %w, %t) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  cl.enqueue_kernel @add(%t, %t, %y) : memref<4xf32>, memref<4xf32>, memref<4xf32>""",
)

ANSWERS = {
    "null options": ("ARGUMENT", ""),
    "null model": ("ARGUMENT", ""),
    "empty options": ("ARGUMENT", "The options lack a context, a device or a queue."),
    "no weights": ("ARGUMENT", "The options have no weights; set weights or weights_path."),
    "unordered queue": ("ARGUMENT", "needs an in-order queue"),
    "foreign context": ("ARGUMENT", "belongs to another context or device"),
    "two arenas": ("ARGUMENT", "small needs 1 arenas, but 2 were given."),
    "tiny arena": ("BUFFER", "The buffer for an arena has 4 bytes, but needs 144."),
    "foreign arena": ("BUFFER", "The buffer for an arena belongs to another context"),
    "read-only arena": ("BUFFER", "Kernels cannot both read and write an arena."),
    "absent.bin": ("FILE", "absent.bin: No such file or directory."),
    "empty.bin": ("WEIGHTS", "is not a weights file"),
    "short.bin": ("WEIGHTS", "are incomplete: the file has 79 of 80 bytes"),
    "long.bin": ("WEIGHTS", "are incomplete: the file has 81 of 80 bytes"),
    "damaged.bin": ("WEIGHTS", "are damaged: their checksum differs"),
    "another.bin": ("WEIGHTS", "belong to another model, or to another compilation of small"),
    "text.bin": ("WEIGHTS", "is not a weights file"),
    "null bind_host": ("ARGUMENT", "The model is a null pointer."),
    "null bind_buffer": ("ARGUMENT", "The model is a null pointer."),
    "null enqueue": ("ARGUMENT", "The model is a null pointer."),
    "null set_arena": ("ARGUMENT", "The model is a null pointer."),
    "null set_queue": ("ARGUMENT", "The model is a null pointer."),
    "null save": ("ARGUMENT", "The model is a null pointer."),
    "good": ("OK", ""),
    "unbound input": ("UNBOUND", "The input x is not bound."),
    "null host": ("ARGUMENT", "The memory for x is a null pointer."),
    "unbound output": ("UNBOUND", "The output y is not bound."),
    "null buffer": ("ARGUMENT", "The buffer for y is a null pointer."),
    "tiny buffer": ("BUFFER", "The buffer for y has 4 bytes, but needs 16."),
    "foreign buffer": ("BUFFER", "The buffer for y belongs to another context"),
    "read-only output": ("BUFFER", "Kernels cannot write the buffer for the output y."),
    "write-only input": ("BUFFER", "Kernels cannot read the buffer for the input x."),
    "shared output": ("BUFFER", "The output y shares its buffer with the input x; bind another."),
    "two halves": ("OK", ""),
    "shared output later": ("BUFFER", "The output y shares its buffer with the input x;"),
    "wrong index": ("ARGUMENT", "small has 2 inputs and outputs, but none with the index 2."),
    "tiny new arena": ("BUFFER", "The buffer for an arena has 4 bytes, but needs 144."),
    "null queue": ("ARGUMENT", "The queue is a null pointer."),
    "unordered new queue": ("ARGUMENT", "needs an in-order queue"),
    "unwritable": ("FILE", "Cannot write /nowhere/at/all."),
    "after mistakes": ("OK", ""),
    "save": ("OK", ""),
    "load": ("OK", ""),
    "with binaries": ("OK", ""),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that makes the mistakes; beside it are weights with and without damage.

    It is compiled with gcc's or clang's checks of memory and of undefined behaviour.
    """
    folder = tmp_path_factory.mktemp("mistakes") / "small"
    weights = Weights()
    module = parse(TWICE.format(key=weights.add(WEIGHT)))
    clopt.compile(module, "generic", weights=weights).save_c(folder, "small")
    whole = (folder / "weights.bin").read_bytes()
    damaged = {
        "empty": b"",
        "short": whole[:-1],
        "long": whole + b"\0",
        "damaged": whole[:-1] + bytes([whole[-1] ^ 1]),
        "another": whole[:32] + bytes([whole[32] ^ 1]) + whole[33:],
        "text": b"no weights at all" * 100,
    }
    for name, content in damaged.items():
        (folder / f"{name}.bin").write_bytes(content)
    (compiler, *_) = compilers()
    sources = [*RUNTIME.glob("*.c"), folder / "small.c", folder / "small_kernels.c"]
    sources.append(Path(__file__).parent / "mistakes.c")
    flags = [*STRICT, "-g", "-fsanitize=address,undefined", f"-I{RUNTIME}", f"-I{folder}"]
    made = folder / "mistakes"
    command = [compiler, *flags, *map(str, sources), "-lOpenCL", "-o", str(made)]
    processes.run(command, check=True)
    return made


def test_mistakes(program: Path, device: str) -> None:
    words = [str(program), find_device(device).platform, str(program.parent)]
    environment = os.environ | {"LSAN_OPTIONS": "exitcode=0"}
    done = processes.run(words, capture_output=True, text=True, env=environment)
    assert not done.returncode, done.stderr
    check_reports(done.stderr)
    printed = done.stdout.splitlines()
    answers = [line.split(" | ") for line in printed if " | " in line]
    assert {name for name, *_ in answers} == ANSWERS.keys()
    for name, status, message in answers:
        expected_status, expected = ANSWERS[name]
        assert status == f"CLOPT_{expected_status}", (name, message)
        assert expected in message, name
        assert bool(expected) == bool(message.strip()), name
    results = [line for line in printed if " | " not in line]
    doubled = "4 8 12 16"
    taken = ["from binaries: 1", doubled, "from binaries: 0", doubled] * 3
    assert results == ["1 -1", "1 -1", doubled, *taken, "references: 0 more"]


def check_reports(text: str) -> None:
    """No leak of ours and no wrong access. The OpenCL runtimes leak some blocks of their own."""
    assert "runtime error" not in text, text
    leaks = [report for report in text.split("\n\n") if "clopt_" in report]
    assert not leaks, leaks[0]
