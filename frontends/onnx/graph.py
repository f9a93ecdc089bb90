"""Import of a graph: resolves names, dispatches nodes, inlines functions and control flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from onnx import FunctionProto, GraphProto, NodeProto
from onnx.defs import OpSchema
from xdsl.dialects.builtin import TensorType, f16, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.nn import tensor_type
from ...errors import LINE_BREAK, CloptError
from ...messages.open_dimensions import OpenValuesError
from ...messages.printable import printable
from ..builder import Builder, TooManySteps, name_location, name_value
from .data_sizes import carry_sizes
from .functions import bind_attributes, definition, is_defined, schema_of
from .model import FunctionKey, domain_of
from .narrow import computes_wide, rounded, widened
from .node import NodeContext, Refusal, Results
from .operators import handler_for, oldest_opset, sequences
from .order import execution_order, read_names
from .scope import ValueScope

MAX_FUNCTION_DEPTH = 32
"""Calls nested deeper than this are treated as recursion, which ONNX forbids."""


_BLOCKED_LAYOUT = "com.microsoft.nchwc"
"""The domain of onnxruntime's convolutions over blocks of channels."""

_MOST_SHOWN = 100
"""Nodes that an error lists at most."""

_SINGLE_PRECISION = ("Attention",)
"""Operators computed in f32: each step of their definition would round an f16 result again.
"""

_WHOLE = ("Bernoulli", "Range")
"""Operators on halves whose definitions are not taken: they draw, or count in a loop."""


class NodeImporter:
    """Importer of the nodes of one set of opsets; each inlined function gets its own."""

    def __init__(
        self,
        builder: Builder,
        opsets: Mapping[str, int],
        functions: Mapping[FunctionKey, FunctionProto],
        folder: Path | None,
        prefix: str = "",
        depth: int = 0,
        strict_half: bool = False,
    ):
        self._builder = builder
        self._opsets = opsets
        self._functions = functions
        self._folder = folder
        self._prefix = prefix
        self._depth = depth
        self._strict_half = strict_half

    def import_model(self, graph: GraphProto, scope: ValueScope) -> Sequence[SSAValue]:
        """Import a whole model; a CloptError lists every node that cannot be imported.

        A node that reads a result of such a node has only its operator checked. The error is an
        OpenValuesError if values of inputs are all that is missing.
        """
        names = [value.name for value in graph.output]
        refused: list[CloptError] = []
        unknown: set[str] = set()
        for index, node in execution_order(list(graph.node), names, scope.own_names()):
            try:
                if unknown.isdisjoint(read_names(node)):
                    self._import_node(node, index, scope)
                    continue
                self._check_operator(node, self._label(node, index))
            except TooManySteps:
                raise
            except CloptError as error:
                refused.append(error)
            unknown.update(node.output)
        _refuse(refused)
        return [self._find(name, scope, "an output") for name in names]

    def check_operators(self, graph: GraphProto, scope: ValueScope) -> None:
        """Raise CloptError that lists the nodes whose operators are unsupported."""
        names = [value.name for value in graph.output]
        refused: list[CloptError] = []
        for index, node in execution_order(list(graph.node), names, scope.own_names()):
            try:
                self._check_operator(node, self._label(node, index))
            except CloptError as error:
                refused.append(error)
        _refuse(refused)

    def import_graph(self, graph: GraphProto, scope: ValueScope) -> Sequence[SSAValue]:
        """Import the nodes that the graph's outputs depend on. Return the outputs."""
        return self._import_nodes(graph.node, scope, [value.name for value in graph.output])

    def _import_nodes(
        self, nodes: Iterable[NodeProto], scope: ValueScope, outputs: Sequence[str]
    ) -> Sequence[SSAValue]:
        for index, node in execution_order(list(nodes), outputs, scope.own_names()):
            self._import_node(node, index, scope)
        return [self._find(name, scope, "an output") for name in outputs]

    def _find(self, name: str, scope: ValueScope, what: str) -> SSAValue:
        value = scope.find(name, self._builder, self._folder)
        if value is None:
            raise CloptError(f"{what} is '{printable(name)}', which no node of the graph computes.")
        return value

    def _name(self, node: NodeProto, index: int) -> str:
        return self._prefix + (node.name or f"{node.op_type}_{index}")

    def _label(self, node: NodeProto, index: int) -> str:
        return f"node '{printable(self._name(node, index))}' ({printable(node.op_type)})"

    def _import_node(self, node: NodeProto, index: int, scope: ValueScope) -> None:
        name, label = self._name(node, index), self._label(node, index)
        inputs = [self._find(i, scope, f"{label}: an input") if i else None for i in node.input]
        location = self._builder.location
        self._builder.location = name_location(name)
        try:
            self._builder.count_step(label)
            results = self._dispatch(node, name, label, inputs, scope)
        except VerifyException as error:
            raise CloptError(f"{label}: {str(error).rstrip('.')}.") from error
        except (OverflowError, MemoryError) as error:
            raise CloptError(f"{label}: a number in it is too large to compute with.") from error
        finally:
            self._builder.location = location
        values = [results] if isinstance(results, SSAValue) else list(results)
        for position, output in enumerate(node.output):
            if output:
                value = values[position] if position < len(values) else None
                if value is None:
                    raise CloptError(f"{label}: its output {position} is not supported.")
                name_value(value, output)
                scope.values[output] = value

    def _dispatch(
        self,
        node: NodeProto,
        name: str,
        label: str,
        inputs: Sequence[SSAValue | None],
        scope: ValueScope,
    ) -> Results:
        domain = domain_of(node.domain)
        function = self._functions.get((domain, node.op_type, node.overload))
        if function is not None:
            return self._call(function, node, name, inputs)
        self._check_operator(node, label)
        opset = self._opsets[domain]
        schema = schema_of(domain, node.op_type, opset)
        if schema is not None:
            _check_arity(schema.min_input, schema.max_input, inputs, label)
        reads_sequence = not self._builder.sequences.keys().isdisjoint(filter(None, inputs))
        if reads_sequence and node.op_type not in sequences.READERS:
            raise CloptError(
                f"{label}: reads a sequence or an optional, which this operator does not take."
            )
        is_narrow = (
            not reads_sequence
            and node.op_type not in sequences.TABLE
            and computes_wide(node.op_type, inputs)
        )
        given = widened(self._builder, inputs) if is_narrow else inputs
        handler = handler_for(domain, node.op_type, opset)
        if handler is not None and not self._is_stepwise(schema, given, opset):
            context = NodeContext(
                node, label, given, self._builder, opset, _Subgraphs(self, scope, name)
            )
            results = carry_sizes(context, given, handler(context))
            context.finish()
        else:
            assert schema is not None, "an operator without a handler is defined by ONNX"
            results = self._expand(schema, node, name, label, given)
        return rounded(self._builder, schema, node, inputs, results) if is_narrow else results

    def _is_stepwise(
        self, schema: OpSchema | None, inputs: Sequence[SSAValue | None], opset: int
    ) -> bool:
        """Return whether each step of an operator on halves is to be rounded, as ONNX defines."""
        return (
            self._strict_half
            and schema is not None
            and schema.name not in _WHOLE
            and is_defined(schema, opset)
            and any(_is_half(value) for value in inputs)
        )

    def _expand(
        self,
        schema: OpSchema,
        node: NodeProto,
        name: str,
        label: str,
        inputs: Sequence[SSAValue | None],
    ) -> Results:
        """Import an operator by the function that defines it in ONNX."""
        opset = self._opsets[domain_of(node.domain)]
        is_wide = node.op_type in _SINGLE_PRECISION and not self._strict_half
        wide = self._widened(inputs) if is_wide else inputs
        body = definition(schema, node, wide, opset)
        if body is None:
            raise CloptError(f"{label}: {node.op_type} is not supported with these inputs.")
        results = self._call(body, node, name, wide)
        return results if wide is inputs else self._halved(results)

    def _check_operator(self, node: NodeProto, label: str) -> None:
        """Raise CloptError if the node's operator is unsupported whatever its inputs are."""
        domain = domain_of(node.domain)
        if (domain, node.op_type, node.overload) in self._functions:
            return
        if domain not in self._opsets:
            raise CloptError(
                f"{label}: the model does not import the domain '{printable(domain)}'."
            )
        if domain == _BLOCKED_LAYOUT:
            raise CloptError(
                f"{label}: operators of the domain '{domain}' have blocks of channels whose size "
                "depends on the processor and is not in the file; optimise the model at the level "
                "ORT_ENABLE_EXTENDED."
            )
        opset = self._opsets[domain]
        handler = handler_for(domain, node.op_type, opset)
        if isinstance(handler, Refusal):
            raise CloptError(f"{label}: {handler.reason}")
        if handler is not None:
            return
        schema = schema_of(domain, node.op_type, opset)
        if schema is None:
            where = f"opset {opset}" + (f" of the domain '{printable(domain)}'" if domain else "")
            kind = printable(node.op_type)
            raise CloptError(f"{label}: {where} has no operator {kind}.")
        if is_defined(schema, opset):
            return
        if (oldest := oldest_opset(domain, node.op_type)) is not None:
            raise CloptError(
                f"{label}: {node.op_type} of opset {opset} is too old; the oldest supported opset "
                f"is {oldest}. Convert the model with onnx.version_converter."
            )
        raise CloptError(f"{label}: the operator {node.op_type} is not supported.")

    def _call(
        self,
        function: FunctionProto,
        node: NodeProto,
        name: str,
        inputs: Sequence[SSAValue | None],
    ) -> Sequence[SSAValue | None]:
        """Inline a function: import its body in a new scope with the function's opsets."""
        if self._depth == MAX_FUNCTION_DEPTH:
            raise CloptError(
                f"node '{printable(name)}': the function {printable(function.name)} calls itself."
            )
        opsets = {domain_of(entry.domain): entry.version for entry in function.opset_import}
        importer = NodeImporter(
            self._builder,
            {**self._opsets, **opsets},
            self._functions,
            self._folder,
            f"{name}/",
            self._depth + 1,
            self._strict_half,
        )
        scope = ValueScope()
        for parameter, value in zip(function.input, inputs, strict=False):
            if value is not None:
                scope.values[parameter] = value
        body = bind_attributes(function, node)
        body = [_drop_absent(n, set(function.input) - set(scope.values)) for n in body]
        pairs = list(zip(function.output, node.output, strict=False))
        values = iter(importer._import_nodes(body, scope, [o for o, used in pairs if used]))
        return [next(values) if used else None for _, used in pairs]

    def _widened(self, values: Sequence[SSAValue | None]) -> Sequence[SSAValue | None]:
        """Cast the f16 values to f32; return the same sequence if there are none."""
        if not any(map(_is_half, values)):
            return values
        return [self._converted(value, f16, f32) for value in values]

    def _halved(self, values: Sequence[SSAValue | None]) -> Sequence[SSAValue | None]:
        return [self._converted(value, f32, f16) for value in values]

    def _converted(
        self, value: SSAValue | None, source: Attribute, target: Attribute
    ) -> SSAValue | None:
        if value is None or tensor_type(value).element_type != source:
            return value
        return self._builder.cast(value, target)

    def import_subgraph(
        self, graph: GraphProto, scope: ValueScope, inputs: Sequence[SSAValue], prefix: str
    ) -> Sequence[SSAValue]:
        """Import a control flow body in place; its names resolve in `scope`."""
        inner = ValueScope(scope)
        inner.add_initializers(graph)
        for parameter, value in zip(graph.input, inputs, strict=False):
            inner.values[parameter.name] = value
        importer = NodeImporter(
            self._builder,
            self._opsets,
            self._functions,
            self._folder,
            prefix,
            self._depth,
            self._strict_half,
        )
        return importer.import_graph(graph, inner)


def _is_half(value: SSAValue | None) -> bool:
    if value is None or not isinstance(value.type, TensorType):
        return False
    return tensor_type(value).element_type == f16


class _Subgraphs:
    """Importer of the subgraphs of one node."""

    def __init__(self, importer: NodeImporter, scope: ValueScope, name: str):
        self._importer = importer
        self._scope = scope
        self._prefix = f"{name}/"

    def __call__(self, graph: GraphProto, inputs: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return self._importer.import_subgraph(graph, self._scope, inputs, self._prefix)


def _refuse(refused: Sequence[CloptError]) -> None:
    """Raise the error for the refused nodes, if there are any."""
    if not refused:
        return
    sentence = _listed([*map(str, refused)])
    waiting = [error for error in refused if isinstance(error, OpenValuesError)]
    if len(waiting) < len(refused):
        raise CloptError(sentence)
    raise OpenValuesError(dict.fromkeys(name for each in waiting for name in each.inputs), sentence)


def _listed(refused: Sequence[str]) -> str:
    """Return one message for all refused nodes, with a line for each if there are several."""
    if len(refused) == 1:
        return refused[0]
    shown = [*refused[:_MOST_SHOWN]]
    if len(refused) > _MOST_SHOWN:
        shown.append(f"and {len(refused) - _MOST_SHOWN} more")
    return LINE_BREAK.join([f"{len(refused)} nodes cannot be compiled:", *shown])


def _check_arity(least: int, most: int, inputs: Sequence[SSAValue | None], label: str) -> None:
    if not least <= len(inputs) <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        raise CloptError(f"{label}: has {len(inputs)} inputs; expected {expected}.")


def _drop_absent(node: NodeProto, absent: set[str]) -> NodeProto:
    """Return the node with every input that names an absent function parameter left empty."""
    if absent.isdisjoint(node.input):
        return node
    copy = NodeProto()
    copy.CopyFrom(node)
    copy.input[:] = ["" if name in absent else name for name in node.input]
    return copy
