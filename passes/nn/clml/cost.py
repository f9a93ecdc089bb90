"""Cost model of CLML commands, in microseconds, from facts of the target.

    launch + multiply-adds / rate + bytes / bandwidth

The rate depends on the kind of command and on the number of compute units. Each element read or
written counts once, constants included. `benchmarks/clml_costs.py` measures the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....dialects import cl, clml
from ....dialects.clml import MLOp, ml_tensor
from ....dialects.clml.facts import CLMLFacts

RATES = {unit: f"clml_{unit}_mads_per_nanosecond" for unit in clml.Unit}
"""The fact, by kind of command, with the multiply-adds of a compute unit per nanosecond."""


@dataclass(frozen=True)
class MLCommandWork:
    """The work of a command."""

    terms: int
    """Multiply-adds."""
    rate: str
    """The fact that holds their rate, one of RATES."""
    bytes: int
    """Bytes of all tensors that it reads and writes."""


@dataclass(frozen=True)
class CommandCosts:
    """The cost model of one target."""

    target: cl.Target

    @cached_property
    def facts(self) -> CLMLFacts:
        """Return the CLML facts of the target."""
        return CLMLFacts.of(self.target)

    def command(self, command: MLOp) -> float:
        """Return the time of one command, in microseconds."""
        return self.time(work_of_command(command))

    def copy(self, size: int) -> float:
        """Return the microseconds to copy a tensor of `size` bytes into another layout."""
        return self.time(MLCommandWork(0, RATES[clml.Unit.CONVOLUTION], 2 * size))

    def time(self, work: MLCommandWork) -> float:
        """Return the time of a command with this work, in microseconds."""
        facts = self.facts
        rate = 1e3 * getattr(facts, work.rate) * self.target.device.compute_units
        moved = work.bytes / (1e3 * facts.clml_bandwidth)
        return facts.clml_launch_microseconds + work.terms / rate + moved


def work_of_command(command: MLOp) -> MLCommandWork:
    """Return the work of a command."""
    size = sum(ml_tensor(value).bytes for value in (*command.operands, *command.results))
    return MLCommandWork(command.multiply_adds, RATES[command.unit], size)
