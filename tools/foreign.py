"""What other packages do in our tools: passes that fail, switches that xDSL's driver sets."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.diagnostic import Diagnostic

from ..errors import CloptError

_OURS = (__name__.partition(".")[0], "xdsl")


def is_ours(pass_: ModulePass) -> bool:
    """Return whether a pass belongs to clopt, or to xDSL, whose passes our pipelines run."""
    return type(pass_).__module__.partition(".")[0] in _OURS


def blame(pass_: ModulePass, error: Exception) -> CloptError:
    """Print the traceback of a foreign pass from its own code on; return the error to end with."""
    home = type(pass_).__module__
    frames = error.__traceback__
    # Our frames and xDSL's above the pass would only hide the author's own code.
    while frames is not None and frames.tb_frame.f_globals.get("__name__") != home:
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames or error.__traceback__)
    return CloptError(
        f"the pass {pass_.name} raised {type(error).__name__}; it belongs to {home}, not to clopt."
    )


@contextmanager
def xdsl_switches_restored() -> Generator[None]:
    """Undo what xDSL's driver sets for the whole process, at --disable-verify for one."""
    verify, colored = Attribute.__post_init__, Diagnostic.colored
    try:
        yield
    finally:
        Attribute.__post_init__, Diagnostic.colored = verify, colored
