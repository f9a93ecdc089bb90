"""PyTorch models: `clopt.from_torch(module, example)` and `torch.compile(backend="clopt")`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .api import compile
from .errors import CloptError
from .frontends.fx.importer import import_fx, refused_nodes
from .frontends.fx.tracing import (
    export,
    partition,
    torch_module,
    trace,
    with_numbers_as_tensors,
)
from .weights import Weights

if TYPE_CHECKING:
    from .compiled_model import CompiledModel

_MOST_CHANGES = 2
"""A weight that has changed more often becomes an input."""


def from_torch(module: Any, example: Any, **options: Any) -> CompiledModel:
    """Compile a PyTorch module for the shapes of `example`: a tensor, a tuple, or keywords.

    `options` are the options of `clopt.compile`. Later changes of the weights have no effect.
    Inputs are named after the arguments. Raises CloptError if torch.export cannot export the
    module, or if clopt does not support one of its operations.
    """
    named, several = isinstance(example, Mapping), isinstance(example, list | tuple)
    keywords = cast("Mapping[str, Any]", example if named else {})
    arguments = cast("Sequence[Any]", () if named else example if several else (example,))
    graph, constants = export(module, arguments, keywords)
    return _compile(graph, constants, options)


def _compile(graph: Any, constants: Mapping[str, Any], options: Mapping[str, Any]) -> CompiledModel:
    weights = Weights()
    network = import_fx(graph, weights, constants)
    return compile(network, weights=weights, **options)


def backend(
    graph: Any, inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None, **_: object
) -> Callable[..., Any]:
    """Compile a graph of dynamo: the entry point "clopt" of the group `torch_dynamo_backends`.

    `options` are the options of `clopt.compile`.
    """
    torch = torch_module()
    if torch.is_grad_enabled() and any(getattr(t, "requires_grad", False) for t in inputs):
        warnings.warn(
            'backend="clopt" computes no gradients, so this graph stays in torch; call the model '
            "in torch.no_grad().",
            stacklevel=2,
        )
        return graph.forward
    return TorchGraph(graph, inputs, options or {})


class TorchGraph:
    """A graph of dynamo, compiled for each combination of weights and shapes in its calls."""

    def __init__(self, graph: Any, inputs: Sequence[Any], options: Mapping[str, Any]):
        tensor, parameter = torch_module().Tensor, torch_module().nn.Parameter
        self._graph = with_numbers_as_tensors(graph)
        self._options = options
        self._tensor = tensor
        self._fixed = [
            i
            for i, value in enumerate(inputs)
            if isinstance(value, parameter) or hasattr(value, "_dynamo_static_input_type")
        ]
        self._changes: dict[int, int] = {}
        self._variants: dict[tuple[Any, ...], TorchVariant] = {}
        symbolic = [value for value in inputs if not self._is_static(value)]
        if not symbolic:
            self._variants[self._key(inputs)] = self._variant(inputs)

    def __call__(self, *inputs: Any) -> Any:
        key = self._key(inputs)
        variant = self._variants.get(key)
        if variant is not None:
            changed = variant.changed(inputs)
            if not changed:
                return variant.run(*inputs)
            self._count(changed)
            del self._variants[key]
            key = self._key(inputs)
        made = self._variants[key] = self._variant(inputs)
        return made.run(*inputs)

    def _count(self, changed: Sequence[int]) -> None:
        """Turn weights that change often into inputs."""
        for i in changed:
            self._changes[i] = self._changes.get(i, 0) + 1
            if self._changes[i] > _MOST_CHANGES:
                self._fixed.remove(i)

    def _is_static(self, value: Any) -> bool:
        if isinstance(value, self._tensor):
            return all(isinstance(size, int) for size in value.shape)
        return isinstance(value, int | float)

    def _key(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        fixed = frozenset(self._fixed)
        return tuple(
            id(value) if i in fixed else getattr(value, "shape", value)
            for i, value in enumerate(inputs)
        )

    def _variant(self, inputs: Sequence[Any]) -> TorchVariant:
        fixed = {i: inputs[i] for i in self._fixed}

        def compile_graph(aten: Any) -> Callable[..., Any]:
            places = [node for node in aten.graph.nodes if node.op == "placeholder"]
            # torch may merge arguments; then the position of a weight is unknown.
            known = fixed if len(places) == len(inputs) else {}
            constants = {places[i].name: tensor for i, tensor in known.items()}
            return compile_parts(aten, constants, self._options)

        try:
            run = trace(self._graph, inputs, compile_graph)
        except (CloptError, torch_module("._dynamo.exc").RestartAnalysis):
            raise
        except Exception as error:  # tracing raises many unrelated types
            reason = f"{error}".strip().partition("\n")[0] or type(error).__name__
            warnings.warn(
                f"torch cannot trace a graph, which stays in torch: {reason}", stacklevel=2
            )
            run = self._graph.forward
        return TorchVariant(run, fixed)


class TorchVariant:
    """A graph compiled for certain weights, with their versions."""

    def __init__(self, run: Callable[..., Any], fixed: Mapping[int, Any]):
        self.run = run
        # Keeps the weights alive, so that no other tensor gets their identity.
        self._fixed = [(i, tensor, _version(tensor)) for i, tensor in fixed.items()]

    def changed(self, inputs: Sequence[Any]) -> list[int]:
        """Return the positions of weights that have been written since compilation."""
        return [i for i, tensor, version in self._fixed if _version(tensor) != version]


def _version(tensor: Any) -> tuple[int, int]:
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


def compile_parts(
    graph: Any, constants: Mapping[str, Any], options: Mapping[str, Any]
) -> Callable[..., Any]:
    """Return `graph` with the supported parts as programs; torch computes the others."""
    refused = refused_nodes(graph, constants)
    computed = {
        node for node in graph.graph.nodes if node.op == "call_function" and node not in refused
    }
    fused, names = partition(graph, computed)
    calls = {node.target: node for node in fused.graph.nodes if node.op == "call_module"}
    for name in names:
        part = getattr(fused, name)
        inner = [node.name for node in part.graph.nodes if node.op == "placeholder"]
        outer = [node.name for node in calls[name].args]
        held = {i: constants[o] for i, o in zip(inner, outer, strict=True) if o in constants}
        try:
            program = TorchPart(_compile(part, held, options), part, inner, held)
        except CloptError as error:
            if not options:
                warnings.warn(f"A part of the graph stays in torch: {error}", stacklevel=2)
                continue
            raise
        delattr(fused, name)
        setattr(fused, name, program)
    return fused.forward


class TorchPart:
    """A part of a torch graph as a compiled model."""

    def __init__(
        self, model: CompiledModel, graph: Any, names: Sequence[str], held: Mapping[str, Any]
    ):
        self.model = model
        wanted = [each.name for each in model.inputs]
        self._inputs = [names.index(name) for name in wanted]
        returned = next(node for node in graph.graph.nodes if node.op == "output").args[0]
        self._is_single = not isinstance(returned, list | tuple)
        self._from_numpy: Callable[..., Any] = torch_module().from_numpy

    def __call__(self, *tensors: Any) -> Any:
        """Run on tensors in host memory; contiguous ones are read in place."""
        arrays = [tensors[i].detach().numpy() for i in self._inputs]
        results = [self._from_numpy(np.asarray(result)) for result in self.model.run(arrays)]
        return results[0] if self._is_single else tuple(results)
