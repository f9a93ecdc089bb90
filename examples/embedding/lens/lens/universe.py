"""What the package adds to xDSL, loaded on first use."""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def dialect() -> Dialect:
    from .dialect import LENS

    return LENS


def fold_levels() -> type[ModulePass]:
    from .fold_levels import FoldLevelsPass

    return FoldLevelsPass


LENS_UNIVERSE = Universe(
    all_dialects={"lens": dialect}, all_passes={"lens-fold-levels": fold_levels}
)
