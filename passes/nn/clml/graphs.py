"""Conversion of a region to a CLML graph and a call of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir import Region as IRRegion

from ....dialects import clml, nn
from ....dialects.clml import Arithmetic, Layout, MLOp, MLTensorType, Shape, Usage
from ....dialects.nn import Array
from ....weights import Weights
from ..offload.calls import replace_region
from ..offload.matches import inputs_of
from ..offload.regions import Region
from .builder import CommandBuilder, Transform, sizes_of, tensor_type
from .matching import CLMLMatch

_Forms = dict[Layout, SSAValue]
"""Tensors that hold the same elements in different layouts."""


class _Writer(CommandBuilder):
    """The body of one graph under construction."""

    def __init__(self, weights: Weights) -> None:
        self.version = max(clml.VERSIONS)
        self.block = Block()
        self.weights = weights
        self.arguments: list[SSAValue] = []
        """The nn values that become arguments of the graph."""
        self._forms: dict[tuple[SSAValue, Shape], _Forms] = {}
        self._of_tensor: dict[SSAValue, _Forms] = {}
        self._parameters: dict[tuple[str, MLTensorType], SSAValue] = {}

    def read(
        self, value: SSAValue, layout: Layout = Layout.OPTIMAL, sizes: Shape | None = None
    ) -> SSAValue:
        type = tensor_type(value, layout, sizes)
        if isinstance(value.owner, nn.ConstantOp):
            return self.weight(value, type.get_shape(), layout)
        forms = self._forms.get((value, type.get_shape()))
        if forms is None:
            # Not computed here, so it comes from outside of this graph, perhaps from another one.
            forms = self._argument(value, tensor_type(value, Layout.NCHW, sizes))
        if layout not in forms:
            copy = clml.CopyOp(next(iter(forms.values())), type)
            forms[layout] = self.add(copy)
            forms[layout].name_hint = value.name_hint
            self._of_tensor[forms[layout]] = forms
        return forms[layout]

    def _argument(self, value: SSAValue, type: MLTensorType) -> _Forms:
        argument = self.block.insert_arg(type, len(self.block.args))
        argument.name_hint = value.name_hint
        self.arguments.append(value)
        forms = self._forms[value, type.get_shape()] = {Layout.NCHW: argument}
        self._of_tensor[argument] = forms
        return forms

    def define(self, value: SSAValue, tensor: SSAValue) -> None:
        """Record that `tensor` holds an nn value."""
        layout = clml.ml_tensor(tensor).layout
        forms = self._of_tensor.setdefault(tensor, {layout: tensor})
        self._forms[value, clml.ml_tensor(tensor).get_shape()] = forms
        tensor.name_hint = tensor.name_hint or value.name_hint

    def common_layout(self, values: Sequence[SSAValue]) -> Layout:
        for value in values:
            forms = self._forms.get((value, sizes_of(nn.shape_of(value))))
            if forms is not None and Layout.OPTIMAL in forms:
                return Layout.OPTIMAL
        return Layout.NCHW

    def weight(
        self,
        value: SSAValue,
        sizes: Shape,
        layout: Layout = Layout.OPTIMAL,
        transform: Transform | None = None,
    ) -> SSAValue:
        constant = value.owner
        assert isinstance(constant, nn.ConstantOp)
        type = tensor_type(value, layout, sizes, Usage.PARAMETER)
        if transform is None and isinstance(constant.value, nn.WeightAttr):
            return self._parameter(constant.value.key.data, type, value.name_hint)
        array = nn.constant_value(value, self.weights)
        assert array is not None
        array = array if transform is None else transform(array)
        key = self.weights.add(np.ascontiguousarray(array), nn.hint_of(value))
        return self._parameter(key, type, value.name_hint)

    def parameter(self, array: Array, sizes: Shape, layout: Layout = Layout.OPTIMAL) -> SSAValue:
        type = MLTensorType(sizes, nn.element_type(array.dtype), layout, Usage.PARAMETER)
        return self._parameter(self.weights.add(array), type, None)

    def _parameter(self, key: str, type: MLTensorType, hint: str | None) -> SSAValue:
        if (key, type) not in self._parameters:
            constant = clml.ConstantOp(key, type)
            constant.result.name_hint = hint
            self.block.add_op(constant)
            self._parameters[key, type] = constant.result
        return self._parameters[key, type]

    def add(self, command: MLOp) -> SSAValue:
        self.block.add_op(command)
        return command.results[0]

    def result(self, value: SSAValue) -> SSAValue:
        """Return the plain tensor of a value that leaves the graph."""
        shape = next(shape for defined, shape in self._forms if defined is value)
        return self.read(value, Layout.NCHW, shape)


def outline(region: Region, name: str, weights: Weights) -> tuple[clml.GraphOp, clml.CallOp]:
    """Return the graph of a region and the call that replaces the region's operations.

    The operations are erased. The call takes the position of the last one, followed by reshapes of
    results to the shapes that their users expect. The graph is not inserted yet.
    """
    writer = _Writer(weights)
    matches = [match for match in region.matches if isinstance(match, CLMLMatch)]
    common = _common_arithmetic(matches)
    # The graph is built from the model's original values; `current` maps them to the values that
    # have replaced them, with which the graph is called.
    current: dict[SSAValue, SSAValue] = {}
    models: dict[SSAValue, SSAValue] = {}
    for match in matches:
        before = writer.block.last_op
        tensor = match.pattern.build(match.model, writer)
        models[match.result] = match.model[-1].results[0]
        current |= zip(inputs_of(match.model), inputs_of(match.ops), strict=True)
        writer.define(models[match.result], tensor)
        arithmetic = match.arithmetic if match.arithmetic is not common else None
        _annotate(writer.block, before, match.model[0], arithmetic)
    results = {value: writer.result(models[value]) for value in region.outputs}
    returned = list(dict.fromkeys(results.values()))
    writer.block.add_op(clml.ReturnOp(returned))
    commands = [op for op in writer.block.ops if isinstance(op, MLOp)]
    version = max(op.REQUIRED_VERSION for op in commands)
    graph = clml.GraphOp(name, version, common, IRRegion(writer.block))
    first = {tensor: value for value, tensor in reversed(results.items())}
    arguments = [current[value] for value in writer.arguments]
    call = clml.CallOp(name, arguments, [first[tensor].type for tensor in returned])
    graph.location = call.location = region.matches[0].model[0].location
    numbers = [(value, returned.index(tensor)) for value, tensor in results.items()]
    replace_region(region, call, numbers)
    return graph, call


def _annotate(
    block: Block, before: Operation | None, source: Operation, arithmetic: Arithmetic | None
) -> None:
    """Set the location of the operations after `before` to that of their nn operation.

    If `arithmetic` is given, also set it on the commands that accumulate.
    """
    op = block.last_op
    while op is not None and op is not before:
        op.location = source.location
        if arithmetic is not None and isinstance(op, clml.ArithmeticOp) and op.adds_up:
            op.arithmetic = clml.ArithmeticAttr(arithmetic)
        op = op.prev_op


def _common_arithmetic(group: Sequence[CLMLMatch]) -> clml.Arithmetic:
    """Return the arithmetic that most commands of the group use; on a tie, the most precise."""
    counts = Counter(
        match.arithmetic
        for match in group
        for command in match.commands
        if isinstance(command, clml.ArithmeticOp) and command.adds_up
    ) or Counter(match.arithmetic for match in group)
    order = (clml.Arithmetic.FP32, clml.Arithmetic.FP16_ACC32, clml.Arithmetic.FP16)
    return max(order, key=counts.__getitem__)
