"""Outputs that overwrite inputs: what the passes and programs of a network need to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .context import CloptContext
from .dialects import nn
from .dialects.nn.in_place import overwritten_input, result_shapes, seen_shapes
from .errors import CloptError
from .passes.nn.update_in_place import NNUpdateInPlacePass

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .options import CompileOptions


def share_memory(module: ModuleOp, options: CompileOptions, source: object) -> None:
    """Let outputs of a network overwrite inputs, as the options say.

    `source` is the ONNX model of the network, whose open dimensions may have largest sizes. Raises
    CloptError for an output that cannot overwrite its input.
    """
    if not options.in_place:
        return
    _check_apart(options.in_place)
    for network in nn.entries_of(module):
        nn.name_parameters(network)
    symbols: Mapping[str, Sequence[str]] = _symbols(source) if options.largest else {}
    for output, name in options.in_place.items():
        axes = symbols[name] if name in symbols else ()
        room = tuple(options.largest.get(symbol, 0) for symbol in axes)
        NNUpdateInPlacePass(output, name, room).apply(CloptContext(), module)


def _check_apart(pairs: Mapping[str, str]) -> None:
    """Raise CloptError if two outputs overwrite the same input."""
    outputs: dict[str, str] = {}
    for output, source in pairs.items():
        if source in outputs:
            raise CloptError(
                f'in_place says that "{outputs[source]}" and "{output}" overwrite the same input '
                f'"{source}"; leave one of them out.'
            )
        outputs[source] = output


def room_left(module: ModuleOp, source: object) -> dict[str, int]:
    """Return by how many elements caches may grow along each of their open dimensions.

    Callers provide their memory, so that programs for other sizes of them are of no use.
    """
    (network,) = nn.entries_of(module)
    symbols, found = _symbols(source), dict[str, int]()
    shapes = zip(result_shapes(network), seen_shapes(network), strict=True)
    for entries, (whole, seen) in zip(network.res_attrs or (), shapes, strict=True):
        axes = symbols.get(overwritten_input(entries), ())
        for symbol, size, used in zip(axes, whole, seen, strict=False):
            if symbol:
                found[symbol] = min(size - used, found.get(symbol, size))
    return found


def _symbols(source: object) -> Mapping[str, Sequence[str]]:
    """Return the names of the open dimensions of the inputs of an ONNX model."""
    from .frontends.onnx.declared import declared_inputs
    from .frontends.onnx.model import Model, snapshot

    model = source if isinstance(source, Model) else snapshot(source)
    ports = declared_inputs(model, {})
    return {port.name: port.symbols or ("",) * len(port.shape) for port in ports}
