"""The costs by which rules choose tiles for Adreno, compared with counted slots.

Some rules count issue slots per multiply-add, others use other units. So errors are printed
unscaled, and after scaling with the best factor for the rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from adreno_kernels import Network, Row

_WORST = 15


@dataclass(frozen=True)
class Kernel:
    """A kernel whose rule has a cost."""

    place: str
    """Network, precision, GPU, kernel and node."""
    rule: str
    cost: float
    """The cost by which the rule decides, including idle waves."""
    modelled: float
    """The same on a device that never idles."""
    counted: float
    """Counted slots per multiply-add of the network's file."""
    share: float
    """The share of the network's slots."""

    @property
    def ratio(self) -> float:
        """The model over the count: above one if the model overestimates."""
        return self.modelled / self.counted


def kernels_of(key: str, network: Network, rows: Sequence[Row]) -> Iterator[Kernel]:
    """Return the kernels of a network that have a cost; `rows` count the same program."""
    total = sum(row.cost for row in rows)
    for row in rows:
        cost = network.costs.get(row.kernel)
        if cost is not None and row.multiply_adds:
            counted = row.launch_cost / row.multiply_adds
            place = f"{key} {row.kernel} {row.nodes[0]}"
            yield Kernel(place, cost.rule, cost.cost, cost.slots, counted, row.cost / total)


def comparison(kernels: Sequence[Kernel]) -> Iterator[str]:
    """Return medians for each rule and GPU, and the kernels with the largest errors."""
    groups: defaultdict[tuple[str, str], list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        groups[kernel.rule, kernel.place.split()[2]].append(kernel)
    yield "| rule | GPU | kernels | median ratio | median error | after a factor | within 15 % |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for (rule, gpu), same in sorted(groups.items()):
        factor = median(kernel.ratio for kernel in same)
        errors = [abs(kernel.ratio - 1) for kernel in same]
        scaled = median(abs(kernel.ratio / factor - 1) for kernel in same)
        within = sum(error <= 0.15 for error in errors) / len(errors)
        cells = (f"{x:.0%}" for x in (median(errors), scaled, within))
        yield f"| {rule} | {gpu} | {len(same)} | {factor:.2f} | {' | '.join(cells)} |"
    yield ""
    yield "| kernel | rule | modelled | counted | decided by | share |"
    yield "|---|---|---:|---:|---:|---:|"
    worst = sorted(kernels, key=lambda kernel: -kernel.share * abs(kernel.ratio - 1))
    for kernel in worst[:_WORST]:
        figures = (f"{x:.2f}" for x in (kernel.modelled, kernel.counted, kernel.cost))
        yield f"| {kernel.place} | {kernel.rule} | {' | '.join(figures)} | {kernel.share:.1%} |"
