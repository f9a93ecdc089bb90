"""The machines on which `clopt-tune` tries plans: this machine, a board, or a fleet."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import CloptError
from ...tuning.board import Board
from ...tuning.confirm import Build
from ...tuning.measure import BuiltHere, OpenCLInstrument
from ...tuning.workers import LocalMachines
from ..console import Options

if TYPE_CHECKING:
    from ...tuning.fleet import Fleet

TLS: Options = [
    (
        ("--tls-ca",),
        {
            "type": Path,
            "metavar": "FILE",
            "help": "with a scheduler at tls://: the certificate (PEM) of the authority that "
            "signed the certificates of the scheduler, workers and searches",
        },
    ),
    (
        ("--tls-cert",),
        {"type": Path, "metavar": "FILE", "help": "the certificate of this machine"},
    ),
    (
        ("--tls-key",),
        {"type": Path, "metavar": "FILE", "help": "its private key"},
    ),
]
"""The options that say who belongs to a fleet."""

MACHINES: Options = [
    (
        ("--device",),
        {
            "metavar": "TEXT",
            "help": "a part of the name of an OpenCL device of this machine (default: the first), "
            "or of the workers' device with --scheduler and --target",
        },
    ),
    (
        ("--workers",),
        {
            "type": int,
            "metavar": "N",
            "help": "number of plans to build and check at once on this machine; timing is one at "
            "a time (default: 2)",
        },
    ),
    (
        ("--board",),
        {
            "metavar": "ADDRESS",
            "help": "use a board that runs clopt_runner: tcp://host:port, or a command that starts "
            "it, such as 'ssh board ./clopt_runner'; needs --target",
        },
    ),
    (
        ("--scheduler",),
        {
            "metavar": "ADDRESS",
            "help": "use the workers (clopt-tune worker) of this dask scheduler: tcp://host:port, "
            "or tls://host:port with the options --tls-ca, -cert and -key",
        },
    ),
    *TLS,
]
"""The options that say where."""

_WORKERS = 2


def check(options: Namespace) -> None:
    """Raise CloptError for options that contradict one another."""
    if options.board is not None and options.scheduler is not None:
        raise CloptError("Name either a --board or a --scheduler, not both.")
    if options.board is not None and options.device is not None:
        raise CloptError(
            "--device applies to this machine; on a --board, use clopt_runner --device."
        )
    if options.scheduler is None and (options.tls_ca or options.tls_cert or options.tls_key):
        raise CloptError("--tls-ca, --tls-cert and --tls-key need a --scheduler.")
    if options.board is not None and options.device_target is None:
        raise CloptError("A --board does not report its target; name it with --target.")
    if options.workers is None:
        return
    if not is_here(options):
        raise CloptError("--workers applies only to this machine; omit it.")
    if options.workers < 1:
        raise CloptError(f"--workers {options.workers}: must be 1 or more.")


def is_here(options: Namespace) -> bool:
    """Return whether trials run on a device of this machine."""
    return options.board is None and options.scheduler is None


@contextmanager
def networks_of(
    options: Namespace,
) -> Generator[Build | None]:
    """Give what puts a whole network on the device or the board; None for a fleet."""
    if options.board is not None:
        with closing(Board(options.board)) as board:
            yield board.network
    else:
        yield BuiltHere if options.scheduler is None else None


def machines_of(options: Namespace) -> LocalMachines | Fleet:
    """Return the processes or the fleet for trials; raise CloptError if they are absent."""
    if options.board is not None:
        return LocalMachines(Board(options.board))
    if options.scheduler is None:
        return LocalMachines(OpenCLInstrument(options.device or "0"), options.workers or _WORKERS)
    try:
        from ...tuning.fleet import Fleet
        from ...tuning.fleet_security import Certificates
    except ImportError as error:
        raise CloptError(
            "--scheduler needs dask.distributed; install it with pip install 'clopt[tune]'."
        ) from error
    # Without a target, code is made for the device of this machine.
    device = (options.device or "") if options.device_target else ""
    certificates = Certificates(options.tls_ca, options.tls_cert, options.tls_key)
    return Fleet(options.scheduler, device, certificates)
