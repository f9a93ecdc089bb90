"""Trials on a board without Python: a runner in C runs the programs that this process compiles."""

from __future__ import annotations

import shlex
import socket
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from math import prod
from threading import Timer
from typing import IO, cast

import numpy as np

from ..api import compile as compile_module
from ..backends.host_c.runner_files import number, numbers, program_content, sized
from ..compiled_model import CompiledModel
from ..errors import CloptError
from ..files.frames import FrameError, receive_frame, send_frame
from ..tensor_info import TensorInfo
from .instrument import InstrumentDevice
from .measure import MeasuringInstrument
from .programs import TrialProgram
from .timing import Array, BuiltNetwork, BuiltProgram
from .trial import Fault, Result, Task, Trial
from .turns import Turns
from .worker_main import failed

_VERSION = 1
_HELLO, _LOAD, _WRITE, _RUN, _READ = range(5)
_TCP = "tcp://"
_PATIENCE = 10.0
"""Seconds within which a runner at a port must identify itself."""
_START = 60.0
"""Seconds within which a command, such as ssh, must start a runner."""
_MOST_TEXT = 1 << 16
"""Maximum bytes of an answer, not counting its times or its tensor."""
_MOST_COMMANDS = 1 << 12
"""Maximum commands of a program; an answer has a time for each."""
_WARM_UP = 3

_LOST = "The runner ended, or the connection to it."


class Board(MeasuringInstrument):
    """Tries plans through a runner at `tcp://host:port`, or one that a command starts.

    The command's stdin and stdout are the runner's, as with `ssh board ./clopt_runner`.
    """

    takes_turns = False
    """The runner holds one program at a time and would rebuild it for each turn."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self._runner: _Runner | None = None

    def __repr__(self) -> str:
        return f"the board {self.address}"

    def device(self) -> InstrumentDevice:
        """Return the board's device; raise CloptError if there is no runner or device."""
        try:
            return self._connected().device
        except (FrameError, ValueError) as error:
            raise CloptError(
                f"The program that answers at {self.address} is not clopt_runner; name the "
                "address of a clopt_runner."
            ) from error
        except (OSError, EOFError) as error:
            raise CloptError(
                f"No runner answers at {self.address}: start clopt_runner there."
            ) from error

    def measure(self, trial: Trial, turns: Turns) -> Result:
        """Try a plan; if the connection to the runner is lost, try it once more."""
        device = self.device()
        for _ in range(2):
            with suppress(OSError, EOFError):
                return super().measure(trial, turns)
            self._disconnect()
        return failed(trial, device, 0.0, Fault.CRASHED, _LOST)

    def built(self, program: TrialProgram, task: Task) -> BuiltProgram:
        return self.load(
            compile_module(program.module, task.target, weights=program.context.weights)
        )

    def load(self, model: CompiledModel) -> BuiltProgram:
        """Load a program, which replaces the one before."""
        runner = self._connected()
        runner.load(program_content(model.module, model.source, model.weights))
        return _BuiltThere(model, runner)

    def resource(self, task: Task) -> str:
        return self.address

    def network(self, model: CompiledModel) -> BuiltNetwork:
        """Return a network on the board, which is loaded again for each use.

        Using it raises CloptError if the connection to the runner is lost.
        """
        return _NetworkThere(self, model)

    def close(self) -> None:
        """End the connection, which lets other processes use the board."""
        self._disconnect()

    def _connected(self) -> _Runner:
        if self._runner is None:
            self._runner = _Runner(self.address)
        return self._runner

    def _disconnect(self) -> None:
        if self._runner is not None:
            self._runner.close()
        self._runner = None


class _Runner:
    """A connection to a runner."""

    def __init__(self, address: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        if address.startswith(_TCP):
            host, _, port = address.removeprefix(_TCP).rpartition(":")
            if not port.isdecimal() or int(port) >= 1 << 16:
                raise CloptError(f"{address} has no port; write tcp://host:port.")
            self._socket = socket.create_connection((host, int(port)), timeout=_PATIENCE)
            both = cast("IO[bytes]", self._socket.makefile("rwb"))
            self._out, self._in = both, both
        else:
            self._process = subprocess.Popen(
                _words(address), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._out, self._in = self._process.stdin, self._process.stdout
        # The limit of a trial ends later requests, with this whole process.
        limit = Timer(_START if self._process else _PATIENCE, self._interrupt)
        limit.daemon = True
        limit.start()
        try:
            self.device = self._hello()
        except BaseException:
            self.close()
            raise
        finally:
            limit.cancel()
        if self._socket is not None:
            self._socket.settimeout(None)

    def load(self, program: bytes) -> None:
        """Build a program, which replaces the previous one."""
        self._ask(number(_LOAD) + program)

    def write(self, tensor: int, content: bytes) -> None:
        """Fill an input."""
        self._ask(numbers(_WRITE, tensor) + sized(content))

    def run(self, runs: int) -> list[int]:
        """Run the program; return the nanoseconds of each command, run by run."""
        answer = self._ask(numbers(_RUN, runs), 8 * runs * _MOST_COMMANDS)
        return [int(each) for each in np.frombuffer(answer, "<u8")]

    def read(self, tensor: int, count: int) -> bytes:
        """Return the bytes of a tensor that has `count` of them."""
        return _texts(self._ask(numbers(_READ, tensor), count))[0]

    def close(self) -> None:
        """End the runner, or its process for this connection."""
        self._interrupt()
        for each in (self._out, self._in, self._socket):
            if each is not None:
                with suppress(OSError):
                    each.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=_PATIENCE)

    def _interrupt(self) -> None:
        """Unblock all reads and writes that wait for the runner."""
        if self._process is not None:
            self._process.kill()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _hello(self) -> InstrumentDevice:
        answer = self._ask(number(_HELLO))
        version = int.from_bytes(answer[:8], "little")
        if version != _VERSION:
            raise CloptError(
                f"The runner has protocol version {version}, not {_VERSION}; compile it "
                "again from the files of clopt-tune runner."
            )
        name, platform, driver = (text.decode() for text in _texts(answer[8:]))
        return InstrumentDevice(f"{name} ({platform})", driver)

    def _ask(self, request: bytes, most: int = 0) -> bytes:
        """Return the answer to a request, which may carry `most` bytes of data.

        Raises CloptError with the runner's message.
        """
        send_frame(self._out, request)
        answer = receive_frame(self._in, most + _MOST_TEXT)
        if int.from_bytes(answer[:8], "little"):
            raise CloptError(_texts(answer[8:])[0].decode(errors="replace"))
        return answer[8:]


class _BuiltThere:
    """A program on a board."""

    def __init__(self, model: CompiledModel, runner: _Runner) -> None:
        self._model = model
        self._runner = runner

    @property
    def inputs(self) -> Sequence[TensorInfo]:
        return self._model.inputs

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        self._write(inputs)
        self._runner.run(1)
        first = len(self.inputs)
        return [self._read(first + i, info) for i, info in enumerate(self._model.outputs)]

    def nanoseconds(self, inputs: Sequence[Array], runs: int) -> list[list[int]]:
        self._write(inputs)
        self._runner.run(_WARM_UP)
        times = self._runner.run(runs)
        count = len(times) // max(runs, 1)
        return [times[i * count : (i + 1) * count] for i in range(runs)]

    def _read(self, tensor: int, info: TensorInfo) -> Array:
        content = self._runner.read(tensor, prod(info.shape) * info.dtype.itemsize)
        return np.frombuffer(content, info.dtype).reshape(info.shape)

    def _write(self, inputs: Sequence[Array]) -> None:
        for i, array in enumerate(inputs):
            self._runner.write(i, np.ascontiguousarray(array).tobytes())


class _NetworkThere:
    """A network on a board."""

    def __init__(self, board: Board, model: CompiledModel) -> None:
        self._board, self._model = board, model
        self.resource = board.address
        self.inputs = model.inputs

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        with _told_if_lost():
            return self._board.load(self._model).run(inputs)

    def nanoseconds(self, inputs: Sequence[Array], runs: int) -> list[list[int]]:
        with _told_if_lost():
            return self._board.load(self._model).nanoseconds(inputs, runs)


@contextmanager
def _told_if_lost() -> Generator[None]:
    try:
        yield
    except (OSError, EOFError) as error:
        raise CloptError(_LOST) from error


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise CloptError(f"--board {command}: {error}; quote it as for a shell.") from error


def _texts(content: bytes) -> list[bytes]:
    """Return the texts of an answer, each of which follows its length."""
    found: list[bytes] = []
    while content:
        end = 8 + int.from_bytes(content[:8], "little")
        found.append(content[8:end])
        content = content[end:]
    return found
