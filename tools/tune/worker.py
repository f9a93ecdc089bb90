"""`clopt-tune worker`: try the plans that a scheduler sends on a device of this machine."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import CloptError
from ...tuning.measure import OpenCLInstrument
from ..console import Options, make_parser

EXAMPLES = """\
clopt-tune worker --scheduler tcp://host:8786 --device pocl
clopt-tune worker --scheduler tcp://host:8786 --device Adreno --seconds 60
"""

OPTIONS: Options = [
    (
        ("--scheduler",),
        {"required": True, "metavar": "ADDRESS", "help": "where dask scheduler answers"},
    ),
    (
        ("--device",),
        {"required": True, "metavar": "TEXT", "help": "a part of the name of an OpenCL device"},
    ),
    (
        ("--slots",),
        {
            "type": int,
            "default": 1,
            "metavar": "N",
            "help": "plans that are built and checked at once; they are timed one by one "
            "(default: 1)",
        },
    ),
    (
        ("--seconds",),
        {
            "type": float,
            "default": 30.0,
            "metavar": "S",
            "help": "what takes longer is ended and recorded as hung (default: 30)",
        },
    ),
]


def main(args: Sequence[str]) -> None:
    """Try plans until somebody ends the process."""
    options = make_parser("clopt-tune worker", __doc__, EXAMPLES, OPTIONS).parse_args(args)
    if options.slots < 1 or options.seconds <= 0:
        raise CloptError("--slots and --seconds are positive numbers.")
    try:
        from ...tuning.fleet_worker import serve
    except ImportError as error:
        raise CloptError(
            "clopt-tune worker needs dask.distributed; install it with pip install 'clopt[tune]'."
        ) from error
    serve(options.scheduler, OpenCLInstrument(options.device), options.slots, options.seconds)
