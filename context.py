"""The registry passes work with, and the weights that belong to its module."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.universe import XDSL_UNIVERSE

from .universe import CLOPT_UNIVERSE
from .weights import Weights


@dataclass
class CloptContext(Context):
    """An xDSL context that knows every dialect of clopt and xDSL and carries the weights.

    A dialect is loaded when the parser meets its first operation.
    """

    weights: Weights = field(default_factory=Weights)

    def __post_init__(self) -> None:
        if not self._registered_dialects:
            dialects = XDSL_UNIVERSE.all_dialects | CLOPT_UNIVERSE.all_dialects
            for name, load in dialects.items():
                self.register_dialect(name, load)

    def clone(self) -> CloptContext:
        """A context with the same dialects and the same weights."""
        return CloptContext(
            self.allow_unregistered,
            self._loaded_dialects.copy(),
            self._loaded_ops.copy(),
            self._loaded_attrs.copy(),
            self._loaded_types.copy(),
            self._registered_dialects.copy(),
            self.weights,
        )


def weights_of(ctx: Context) -> Weights:
    """The weights `ctx` carries; a fresh, empty store for a plain xDSL context."""
    return ctx.weights if isinstance(ctx, CloptContext) else Weights()
