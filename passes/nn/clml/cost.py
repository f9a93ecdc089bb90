"""What commands of CLML cost, in microseconds: an analytical model over the facts of the target.

    launch + multiply-adds / rate + bytes / bandwidth

The rate is that of the kind of command, times the compute units; bytes are all elements read and
written once, constants too. `benchmarks/clml_costs.py` measures the facts on a device.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from ....dialects import cl, clml, nn
from ....dialects.clml import ml_tensor


@dataclass(frozen=True)
class CommandCosts:
    """The costs of commands on one target."""

    target: cl.Target

    def command(self, op: Operation) -> float:
        """One command."""
        terms, rate = self._terms(op)
        compute = terms / (1e3 * rate * self.target.compute_units)
        return compute + self._rest(sum(map(_bytes, (*op.operands, *op.results))))

    def copy(self, size: int) -> float:
        """A copy of a tensor of `size` bytes into another layout."""
        return self._rest(2 * size)

    def _rest(self, moved: int) -> float:
        """A command that does nothing but move so many bytes."""
        return self.target.clml_launch_microseconds + moved / (1e3 * self.target.clml_bandwidth)

    def _terms(self, op: Operation) -> tuple[int, float]:
        """Multiply-adds, and how many of them a compute unit does in a nanosecond."""
        target = self.target
        match op:
            case clml.Convolution():
                terms = _convolution_terms(op)
                if op.mode.data is clml.ConvMode.DEPTHWISE:
                    return terms, target.clml_depthwise_mads_per_nanosecond
                return terms, target.clml_convolution_mads_per_nanosecond
            case clml.PoolOp():
                window = prod(nn.ints(op.kernel))
                count = prod(ml_tensor(op.result).get_shape())
                return count * window, target.clml_depthwise_mads_per_nanosecond
            case clml.FullyConnectedOp():
                return prod(ml_tensor(op.w).get_shape()), target.clml_matmul_mads_per_nanosecond
            case clml.GemmOp():
                terms = op.m.value.data * op.n.value.data * op.k.value.data
                return terms, target.clml_matmul_mads_per_nanosecond
            case _:
                return 0, target.clml_convolution_mads_per_nanosecond


def _bytes(value: SSAValue) -> int:
    tensor = ml_tensor(value)
    return prod(tensor.get_shape()) * tensor.element_bytes


def _convolution_terms(op: clml.Convolution) -> int:
    """Each tap of each filter, at every place of the result, of the input where transposed."""
    weight = prod(ml_tensor(op.w).get_shape())
    is_transposed = op.mode.data is clml.ConvMode.TRANSPOSE
    _, _, h, w = ml_tensor(op.x if is_transposed else op.result).get_shape()
    return weight * h * w
