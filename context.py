"""The context of passes: dialects, the module's weights, and explanations."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnregisteredAttr
from xdsl.ir import Attribute, Operation

from .dialects.nn.weights_attr import module_weights, set_module_weights
from .messages.explanations import Explained, Show
from .universe import CLOPT_UNIVERSE, all_dialects, with_all_packages
from .weights import Array, Weights


@dataclass
class CloptContext(Context):
    """An xDSL context that knows all dialects, also of accelerators, and holds the weights.

    It loads a dialect when the parser meets the dialect's first operation.
    """

    weights: Weights = field(default_factory=Weights)
    explanations: list[Explained] | None = None
    """The explanations of all choices so far; None unless the user wants them."""

    def __post_init__(self) -> None:
        if not self._registered_dialects:
            for name, load in all_dialects().items():
                self.register_dialect(name, load)

    @classmethod
    def with_all_packages(cls) -> CloptContext:
        """Return a context that also knows the dialects of other installed packages."""
        ctx = cls()
        known = set(ctx.registered_dialect_names)
        for name, load in with_all_packages().all_dialects.items():
            if name not in known:
                ctx.register_dialect(name, load)
        return ctx

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """Return the class of an attribute; attributes of other compilers stay text.

        Other compilers annotate modules with data that clopt can ignore, such as
        `#tosa.target_env<…>`.
        """
        found = super().get_optional_attr(name)
        if found is None and name.partition(".")[0] not in CLOPT_UNIVERSE.all_dialects:
            found = self._loaded_attrs[name] = UnregisteredAttr.with_name_and_type(name, False)
        return found

    def clone(self) -> CloptContext:
        """Return a context with the same dialects, weights and explanations."""
        return CloptContext(
            self.allow_unregistered,
            self._loaded_dialects.copy(),
            self._loaded_ops.copy(),
            self._loaded_attrs.copy(),
            self._loaded_types.copy(),
            self._registered_dialects.copy(),
            self.weights,
            self.explanations,
        )


@contextmanager
def explaining(ctx: CloptContext, *shown: Show) -> Generator[None]:
    """Let passes explain their choices; print these views on stderr when the body ends or fails."""
    ctx.explanations = []
    try:
        yield
    finally:
        for show in shown:
            for each in show(ctx.explanations):
                print(each, file=sys.stderr)
        ctx.explanations = None


def weights_of(ctx: Context, op: Operation) -> Weights:
    """Return the weights of the module that is or contains `op`.

    They are the weights of `ctx`, which adopts the arrays in the module's text. A plain xDSL
    context has no weights; then they are a resource of the module, the attribute `nn.weights`.
    """
    module = op.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    if not isinstance(ctx, CloptContext):
        return _WeightsInModule(module)
    own = module_weights(module)
    if own is not None and own is not ctx.weights:
        ctx.weights.adopt(own)
        set_module_weights(module, ctx.weights)
    return ctx.weights


def explanations_of(ctx: Context) -> list[Explained] | None:
    """Return the list of explanations, or None if no one wants them."""
    return ctx.explanations if isinstance(ctx, CloptContext) else None


class _WeightsInModule(Weights):
    """The weights of a module that no context holds; the first array creates their attribute."""

    def __init__(self, module: ModuleOp) -> None:
        super().__init__()
        self._module = module

    def add(self, array: Array, hint: str = "") -> str:
        if module_weights(self._module) is None:
            set_module_weights(self._module, Weights())
        self._share()
        return super().add(array, hint)

    def get(self, key: str) -> Array:
        self._share()
        return super().get(key)

    def __contains__(self, key: object) -> bool:
        self._share()
        return super().__contains__(key)

    def _share(self) -> None:
        store = module_weights(self._module)
        if store is not None:
            self.become(store)
