"""How many random examples the tests try, and the seed that they are drawn from.

By default a test tries few examples, the same ones in every run. `pytest --long`, or
`./tests/run.sh --long`, tries many, drawn from a new seed that it prints; `--seed N` draws the
examples of seed N, with `--long` or without. See docs/testing.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, core, settings
from hypothesis.internal.conjecture import providers

DEFAULT_EXAMPLES = 100
LONGER = 10


@dataclass
class _Effort:
    long: bool = False
    seed: int | None = None
    thorough: bool = False


_effort = _Effort()


def configure(long: bool, seed: int | None, thorough: bool = False) -> None:
    """Set the effort of this process; called once, before a test module is imported."""
    _effort.long, _effort.seed, _effort.thorough = long, seed, thorough
    core.global_force_seed = seed  # as the option --hypothesis-seed of its plugin does
    # Hypothesis mixes in the constants of every module loaded so far, so a test would draw other
    # examples whenever the tests before it changed.
    providers._get_local_constants = lambda: providers._local_constants
    settings.register_profile(
        "clopt",
        max_examples=examples(DEFAULT_EXAMPLES),
        derandomize=seed is None,
        database=None,  # the seed alone decides
        deadline=None,  # a busy machine is not a defect
        suppress_health_check=[  # and neither is an example that takes long to draw
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.large_base_example,
            HealthCheck.too_slow,
        ],
    )
    settings.load_profile("clopt")


def seed_asked() -> int | None:
    """The seed that `--seed` gave or `--long` drew; None where every run draws the same."""
    return _effort.seed


def how_to_repeat() -> str:
    """The command that draws the same examples again."""
    long = " --long" if _effort.long else ""
    return f"random examples: ./tests/run.sh{long} --seed {_effort.seed} draws the same again"


def is_long() -> bool:
    """Whether this is the long form."""
    return _effort.long


def examples(default: int, long: int | None = None) -> int:
    """`default`, or in the long form `long` (unless given, ten times as many)."""
    if not _effort.long:
        return default
    return LONGER * default if long is None else long


def builds(count: int) -> int:
    """Return the number of examples if each builds kernels: half of `count` in the default form."""
    by_default = not (_effort.long or _effort.thorough)
    return (count + 1) // 2 if by_default else examples(count)


def is_thorough() -> bool:
    """Return whether this is the thorough form."""
    return _effort.thorough


def seed() -> int:
    """The seed for a test that draws with a generator of its own; 0 unless one was asked for."""
    return _effort.seed or 0


def seeds(default: int, long: int | None = None) -> range:
    """As many successive seeds as `examples` says; `--seed` gives the first."""
    return range(seed(), seed() + examples(default, long))
