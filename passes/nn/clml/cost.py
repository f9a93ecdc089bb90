"""The cost of CLML commands in microseconds: an analytical model over the facts of the target.

    launch + multiply-adds / rate + bytes / bandwidth

The rate depends on the kind of command and on the compute units. The bytes count each element that
is read or written once, constants included. `benchmarks/clml_costs.py` measures the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from ....dialects import cl, clml, nn
from ....dialects.clml import ml_tensor

RATES = (
    "clml_convolution_mads_per_nanosecond",
    "clml_depthwise_mads_per_nanosecond",
    "clml_matmul_mads_per_nanosecond",
)
"""The facts that give the multiply-adds of a compute unit per nanosecond."""


@dataclass(frozen=True)
class Load:
    """The work of a command."""

    terms: int
    """Multiply-adds."""
    rate: str
    """The fact that gives their rate: one of RATES."""
    bytes: int
    """The bytes of all tensors that it reads and writes."""


@dataclass(frozen=True)
class CommandCosts:
    """The costs of commands on one target."""

    target: cl.Target

    def command(self, op: Operation) -> float:
        """The time of one command."""
        return self.time(load_of(op))

    def copy(self, size: int) -> float:
        """The time of a copy of a tensor of `size` bytes into another layout."""
        return self.time(Load(0, RATES[0], 2 * size))

    def time(self, load: Load) -> float:
        """The time of a command with this work."""
        target = self.target
        rate = 1e3 * getattr(target, load.rate) * target.compute_units
        moved = load.bytes / (1e3 * target.clml_bandwidth)
        return target.clml_launch_microseconds + load.terms / rate + moved


def load_of(op: Operation) -> Load:
    """The work of a command."""
    rate, terms = RATES[0], 0
    match op:
        case clml.Convolution():
            terms = _convolution_terms(op)
            if op.mode.data is clml.ConvMode.DEPTHWISE:
                rate = RATES[1]
        case clml.PoolOp():
            rate = RATES[1]
            terms = prod(ml_tensor(op.result).get_shape()) * prod(nn.ints(op.kernel))
        case clml.FullyConnectedOp():
            rate, terms = RATES[2], prod(ml_tensor(op.w).get_shape())
        case clml.GemmOp():
            rate, terms = RATES[2], op.m.value.data * op.n.value.data * op.k.value.data
        case _:
            pass
    size = sum(map(_bytes, (*op.operands, *op.results)))
    return Load(terms, rate, size)


def _bytes(value: SSAValue) -> int:
    tensor = ml_tensor(value)
    return prod(tensor.get_shape()) * tensor.element_bytes


def _convolution_terms(op: clml.Convolution) -> int:
    """Each tap of each filter, once per position of the result (transposed: of the input)."""
    weight = prod(ml_tensor(op.w).get_shape())
    is_transposed = op.mode.data is clml.ConvMode.TRANSPOSE
    _, _, h, w = ml_tensor(op.x if is_transposed else op.result).get_shape()
    return weight * h * w
