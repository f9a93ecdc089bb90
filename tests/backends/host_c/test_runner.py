"""The runner for boards under gcc's checks of memory refuses each malformed program."""

from __future__ import annotations

import os
import random
import resource
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Timer

import pytest

from clopt.backends.host_c.runner_files import number, numbers, runner_files
from clopt.files.frames import receive_frame, send_frame
from support import effort, processes
from support.c import packaged_models
from support.c.compilers import STRICT, compilers
from support.c.runner_messages import Fields, fields_of, message, numbers_in
from support.processes import started

POCL = "Portable Computing Language"
LOAD, RUN, READ = 1, 3, 4
FEW, MANY = (1 << 31) - 1, (1 << 64) - 1
_SECONDS = 60
_CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runner, which ends at its first wrong access, overflow or other undefined behaviour."""
    folder = tmp_path_factory.mktemp("runner")
    for path, content in runner_files().items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    words = [compilers()[0], *STRICT, "-O0", "-g", *_CHECKS, f"-I{folder / 'clopt_runtime'}"]
    sources = map(str, sorted(folder.rglob("*.c")))
    processes.run([*words, *sources, "-lOpenCL", "-o", folder / "runner"], check=True)
    return folder / "runner"


Ask = Callable[[bytes], bytes]


@contextmanager
def asking(runner: Path) -> Iterator[Ask]:
    """A function that sends a request and returns the answer."""
    environment = os.environ | {"LSAN_OPTIONS": "exitcode=0"}  # drivers leak some blocks
    log = runner.with_suffix(".log")  # a pipe would be full of the leaks of drivers
    words = [runner, "--device", POCL]
    with (
        log.open("wb") as errors,
        started(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        given, taken = process.stdin, process.stdout

        def ask(request: bytes) -> bytes:
            limit = Timer(_SECONDS, process.kill)
            limit.start()
            try:
                send_frame(given, request)
                return receive_frame(taken)
            finally:
                limit.cancel()

        try:
            yield ask
        except (EOFError, OSError):
            process.kill()
            pytest.fail(log.read_text(errors="replace") or "no answer")
        given.close()
        assert process.wait(_SECONDS) == 0
        assert "runtime error" not in log.read_text(errors="replace")


@cache
def _views() -> Fields:
    """A program with all kinds of rows: constants, arenas, images over them, objects, a copy."""
    return fields_of(packaged_models.views())


_PITCH = "its image pitch is too large"
_ROOTS = "it has fewer roots than tensors and arenas"
_SOURCE = "a kernel has no source"
_ROOT = "a root is not one of its tensors, arenas, constants or objects"
_SLOT = "a slot lies outside its root"
_COMMAND = "a command is neither a launch nor a copy of slots"

MALFORMED: list[tuple[str, Fields]] = [
    ("", {"inputs": 3}),
    ("", {"inputs": MANY}),
    ("", {"tensors": MANY}),
    ("", {"needs": 1 << 32}),
    ("", {"slots.1.root": (1 << 32) + 2}),
    ("", {"roots.2.kind": (1 << 32) + 1}),
    ("", {"commands.1.bounds.0.bound": 1 << 31}),
    ("", {"commands.1.bounds": 1 << 60}),
    ("", {"tensors.0.name": b"no end"}),
    ("", {"tensors.0.name": b""}),
    ("", {"digest": b"short"}),
    (_PITCH, {"image_pitch": 1 << 62}),
    (_SLOT, {"image_pitch": 0}),
    (_SOURCE, {"kernels.2.source": 3}),
    (_ROOT, {"tensors.1.bytes": 2240}),
    (_ROOT, {"tensors.0.bytes": MANY}),
    (_ROOT, {"arenas.0.bytes": 16384}),
    (_ROOT, {"roots.0.kind": 3}),
    (_ROOT, {"roots.3.kind": 0}),
    (_ROOT, {"roots.3.kind": 7}),
    (_ROOT, {"roots.3.weights_offset": 65}),
    (_ROOT, {"roots.3.weights_offset": MANY - 287}),
    (_ROOT, {"roots.3.bytes": 289}),
    (_ROOT, {"roots.3.image.height": 3}),
    (_ROOT, {"roots.3.image.width": MANY, "roots.3.image.height": MANY}),
    (_ROOT, {"roots.3.image.width": 1 << 60}),
    (_ROOT, {"roots.3.image.channel": 0}),
    (_ROOT, {"roots.3.image.kind": 1}),
    (_ROOT, {"roots.3.image.kind": 4}),
    (_ROOT, {"roots.4.image.layers": 2}),
    (_ROOT, {"roots.4.image.kind": 3, "roots.4.image.layers": 2}),
    (_SLOT, {"slots.1.root": 6}),
    (_SLOT, {"slots.1.object": 6}),
    (_SLOT, {"slots.1.object": 5, "slots.1.image.width": 34}),
    (_SLOT, {"slots.1.over_parts": 4}),
    (_SLOT, {"slots.1.offset": 8192}),
    (_SLOT, {"slots.1.offset": MANY - 1279}),
    (_SLOT, {"slots.1.bytes": MANY}),
    (_SLOT, {"slots.1.pitch": 559}),
    (_SLOT, {"slots.1.pitch": 656}),
    (_SLOT, {"slots.1.pitch": 1 << 63}),
    (_SLOT, {"slots.1.image.height": 3}),
    (_SLOT, {"slots.1.image.kind": 3}),
    (_SLOT, {"slots.2.image.kind": 0}),
    (_SLOT, {"slots.0.offset": 1121, "slots.0.bytes": 0}),
    (_COMMAND, {"commands.0.kind": 2}),
    (_COMMAND, {"commands.0.kernel": 3}),
    (_COMMAND, {"commands.0.dimensions": 0}),
    (_COMMAND, {"commands.0.dimensions": 4}),
    (_COMMAND, {"commands.0.global.0": 0}),
    (_COMMAND, {"commands.0.global.0": FEW + 1}),
    (_COMMAND, {"commands.0.global.0": FEW, "commands.0.global.1": FEW}),
    (_COMMAND, {"commands.0.dimensions": 2}),
    (_COMMAND, {"commands.0.local.0": 2}),
    (_COMMAND, {"commands.0.local.0": 0}),
    (_COMMAND, {"commands.0.local.1": 0}),
    (_COMMAND, {"commands.0.arguments.1.slot": 6}),
    (_COMMAND, {"commands.3.kind": 0}),
    (_COMMAND, {"commands.1.kind": 1}),
    (_COMMAND, {"slots.5.bytes": 1119}),
    (_COMMAND, {"commands.3.arguments.0.slot": 1, "slots.5.bytes": 1119}),
    (_COMMAND, {"commands.3.arguments.0.slot": 1, "commands.3.arguments.1.slot": 2}),
]


def test_a_malformed_program_is_refused(runner: Path):
    with asking(runner) as ask:
        for sentence, change in MALFORMED:
            assert _views().keys() >= change.keys()
            answer = ask(number(LOAD) + message(_views() | change))
            assert answer[:8] != number(0), change
            found = answer[16:].decode()
            assert found == "The message is no program" + (f": {sentence}." if sentence else "."), (
                change
            )
        fewer_roots = {name: each for name, each in _views().items() if name[:6] != "roots."}
        answer = ask(number(LOAD) + message(fewer_roots | {"roots": 0}))
        assert answer[16:].decode() == f"The message is no program: {_ROOTS}."
        huge = {"arenas.0.bytes": 1 << 60, "roots.2.bytes": 1 << 60}
        answer = ask(number(LOAD) + message(_views() | huge))
        assert answer[16:].decode() == "The device has less memory than the program needs."
        assert ask(number(LOAD) + message(_views())) == number(0)
        answer = ask(numbers(RUN, 1 << 63))
        assert answer[16:].decode().startswith("A request to run must ask for at most 65536")
        assert ask(number(RUN))[:8] != number(0)
        assert len(ask(numbers(RUN, 2))) == 8 * (1 + 2 * 4)
        assert ask(numbers(READ, 2))[:8] != number(0)
        assert len(ask(numbers(READ, 1))) == 8 + 8 + 1120


_ODD = (0, 1, 2, 3, 4, 255, FEW, FEW + 1, (1 << 32) - 1, 1 << 32, 1 << 62, 1 << 63, MANY)


@pytest.mark.long
def test_mutated_programs_end_no_runner(runner: Path):
    """Numbers, texts and single bits change; kernels do nothing, as any kernel may go astray."""
    rng = random.Random(effort.seed())
    whole = fields_of(packaged_models.parts())
    whole["sources.0.text"] = b"kernel void twice(global float *a, global float *b) {}\0"
    with asking(runner) as ask:
        assert ask(number(LOAD) + message(whole)) == number(0)
        loaded = 0
        for _ in range(effort.examples(120)):
            change = {name: _odd(rng, whole[name]) for name in rng.sample(list(whole), k=2)}
            content = bytearray(message(whole | change))
            if rng.random() < 0.3:
                content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            if ask(number(LOAD) + content) == number(0):
                loaded += 1
                if max(each for each in _sizes(whole | change)) < 1 << 16:
                    ask(numbers(RUN, 1))
            ask(numbers(READ, 1))
        assert loaded


def _odd(rng: random.Random, value: int | bytes) -> int | bytes:
    if isinstance(value, bytes):
        return value[: rng.randrange(len(value) + 1)]
    return rng.choice((*_ODD, value, value + 1, max(value - 1, 0)))


def _sizes(fields: Fields) -> Iterator[int]:
    yield from (int(fields[name]) for name in numbers_in(fields) if ".global." in name)


def test_a_message_longer_than_any_program_ends_the_runner(runner: Path):
    done = processes.run(
        [runner, "--device", POCL], input=number(1 << 62), capture_output=True, timeout=_SECONDS
    )
    assert b"A message has 4611686018427387904 bytes" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize("port", ["0", "65536", "99999", "-1", "80x", "", str(1 << 70)])
def test_a_port_out_of_range_is_refused(runner: Path, port: str):
    done = processes.run([runner, "--port", port], capture_output=True, timeout=_SECONDS)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        f"clopt_runner: --port needs a number from 1 to 65535, got {port}.\n"
    )


def test_an_address_of_letters_is_refused(runner: Path):
    words = [runner, "--port", "9000", "--address", "localhost"]
    done = processes.run(words, capture_output=True, timeout=_SECONDS)
    assert done.returncode == 1
    assert done.stderr == b"clopt_runner: --address needs an IPv4 address, got localhost.\n"


def test_a_runner_that_cannot_accept_ends(runner: Path):
    """A process that may open no more files accepts no connection; it does not spin, either."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = processes.run(
        [runner, "--port", port],
        capture_output=True,
        timeout=_SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"clopt_runner: no connection can be accepted: ")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The children of earlier tests in this process count in both.
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < _SECONDS
