"""The time of a launch: what each resource of the device needs for it, and their overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...dialects import cl
from .cores import cores_terms
from .terms import Terms
from .waves import waves_terms
from .work import LaunchWork

_OVERLAP = 3
"""The exponent of the norm that adds the terms: with 1 they would follow each other, without a
bound the largest would hide the others. 2 to 4 fit the measured times about as well."""

_TERMS: Mapping[str, Callable[[LaunchWork, cl.Target], Terms]] = {
    "cpu": cores_terms,
    "gpu": waves_terms,
}


@dataclass(frozen=True)
class Estimate:
    """The estimated time of launches that follow each other."""

    launches: Sequence[Terms]

    @property
    def microseconds(self) -> float:
        """The time from the start of the first launch to the end of the last."""
        return sum(map(_microseconds, self.launches))

    @property
    def terms(self) -> Terms:
        """What each resource needs for all of them."""
        return Terms.total(self.launches)


def estimate(kernels: Iterable[LaunchWork], target: cl.Target) -> Estimate:
    """Estimate the launches of some kernels, one after the other."""
    terms = _TERMS[target.device.device_type]
    return Estimate([terms(work, target) for work in kernels])


def _microseconds(terms: Terms) -> float:
    overlapping = (terms.issue, terms.latency, terms.cache, terms.memory)
    return terms.start + sum(term**_OVERLAP for term in overlapping) ** (1 / _OVERLAP)
