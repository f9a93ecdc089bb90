"""`clopt-tune worker`: try the plans that a scheduler sends, on a device here or on a board."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import CloptError
from ...tuning.board import Board
from ...tuning.measure import OpenCLInstrument
from ..console import Options, make_parser
from .machines import TLS

EXAMPLES = """\
clopt-tune worker --scheduler tcp://host:8786 --device pocl
clopt-tune worker --scheduler tcp://host:8786 --device Adreno --seconds 60
clopt-tune worker --scheduler tcp://host:8786 --board tcp://localhost:9000
"""

OPTIONS: Options = [
    (
        ("--scheduler",),
        {
            "required": True,
            "metavar": "ADDRESS",
            "help": "tcp://host:port of the dask scheduler, or tls://host:port with the options "
            "--tls-ca, -cert and -key; the worker waits for it without a limit, also "
            "across restarts, until Ctrl-C",
        },
    ),
    (
        ("--device",),
        {"metavar": "TEXT", "help": "try plans on this OpenCL device: a part of its name"},
    ),
    (
        ("--board",),
        {
            "metavar": "ADDRESS",
            "help": "use a board that runs clopt_runner: tcp://host:port, or a command that starts "
            "it, such as 'ssh board ./clopt_runner'",
        },
    ),
    (
        ("--slots",),
        {
            "type": int,
            "default": 1,
            "metavar": "N",
            "help": "number of plans to build and check at once; timing is one at a time "
            "(default: 1)",
        },
    ),
    (
        ("--seconds",),
        {
            "type": float,
            "default": 30.0,
            "metavar": "S",
            "help": "time limit of a trial, which is then recorded as hung (default: 30)",
        },
    ),
    (
        ("--listen",),
        {
            "default": "127.0.0.1",
            "metavar": "ADDRESS",
            "help": "the address to listen on; only tools of dask.distributed that query workers "
            "need another one (default: 127.0.0.1)",
        },
    ),
    *TLS,
]


def main(args: Sequence[str]) -> None:
    """Try plans until the user ends the process."""
    options = make_parser("clopt-tune worker", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    if options.slots < 1 or options.seconds <= 0:
        raise CloptError("--slots and --seconds must be positive numbers.")
    if (options.device is None) == (options.board is None):
        raise CloptError("Name either a --device or a --board.")
    if options.board and options.slots > 1:
        raise CloptError("A board runs one plan at a time; omit --slots.")
    try:
        from ...tuning.fleet_security import Certificates
        from ...tuning.fleet_worker import WorkerPlace, serve
    except ImportError as error:
        raise CloptError(
            "clopt-tune worker needs dask.distributed; install it with pip install 'clopt[tune]'."
        ) from error
    board, device = options.board, options.device
    instrument = Board(board) if board else OpenCLInstrument(device)
    certificates = Certificates(options.tls_ca, options.tls_cert, options.tls_key)
    place = WorkerPlace(options.scheduler, certificates, options.listen)
    serve(place, instrument, options.slots, options.seconds)
