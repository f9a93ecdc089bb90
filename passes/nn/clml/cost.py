"""The cost of CLML commands in microseconds: an analytical model over the facts of the target.

    launch + multiply-adds / rate + bytes / bandwidth

The rate depends on the kind of command and on the compute units. The bytes count each element that
is read or written once, constants included. `benchmarks/clml_costs.py` measures the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....dialects import cl, clml
from ....dialects.clml import MLOp, ml_tensor
from ....dialects.clml.facts import CLMLFacts

RATES = {unit: f"clml_{unit}_mads_per_nanosecond" for unit in clml.Unit}
"""The facts that give the multiply-adds of a compute unit per nanosecond."""


@dataclass(frozen=True)
class CommandWork:
    """The work of a command."""

    terms: int
    """Multiply-adds."""
    rate: str
    """The fact that gives their rate: one of those in RATES."""
    bytes: int
    """The bytes of all tensors that it reads and writes."""


@dataclass(frozen=True)
class CommandCosts:
    """The costs of commands on one target."""

    target: cl.Target

    @cached_property
    def facts(self) -> CLMLFacts:
        """What the target says of CLML."""
        return CLMLFacts.of(self.target)

    def command(self, command: MLOp) -> float:
        """The time of one command."""
        return self.time(work_of_command(command))

    def copy(self, size: int) -> float:
        """The time of a copy of a tensor of `size` bytes into another layout."""
        return self.time(CommandWork(0, RATES[clml.Unit.CONVOLUTION], 2 * size))

    def time(self, load: CommandWork) -> float:
        """The time of a command with this work."""
        facts = self.facts
        rate = 1e3 * getattr(facts, load.rate) * self.target.device.compute_units
        moved = load.bytes / (1e3 * facts.clml_bandwidth)
        return facts.clml_launch_microseconds + load.terms / rate + moved


def work_of_command(command: MLOp) -> CommandWork:
    """The work of a command."""
    size = sum(ml_tensor(value).bytes for value in (*command.operands, *command.results))
    return CommandWork(command.multiply_adds, RATES[command.unit], size)
