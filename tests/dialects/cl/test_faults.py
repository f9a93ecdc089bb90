"""The verifier refuses damaged plans, each by the rule that it breaks, and no sound one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from support import effort
from support.cl.planned_programs import (
    BASE,
    BUFFER,
    IMAGE,
    INPUT,
    PITCH,
    TARGET,
    Plan,
    Use,
    build,
    name,
    random_plan,
)

PROGRAMS = effort.seeds(24)

Fault: TypeAlias = "tuple[Plan, str]"
"""A damaged plan and the message that refuses it, as a regular expression."""


def alone(plan: Plan, number: int) -> bool:
    """Whether a value shares its bytes with none by computing in place."""
    return all(number not in pair for pair in plan.partners)


def launches_of(plan: Plan, number: int) -> list[int]:
    return [
        i
        for i, launch in enumerate(plan.launches)
        if number in {use[0] for use in (*launch.reads, launch.write)}
    ]


def used_later(plan: Plan, number: int) -> Plan:
    """The plan with one more reader of a value, at the end."""
    launch = plan.launches[-1]
    return plan.with_launch(-1, reads=(*launch.reads, (number, None)))


def moved_onto_a_live_value(plan: Plan) -> Iterator[Fault]:
    """Two values that no launch uses together, so that only their lifetimes conflict."""
    for a, b in combinations(range(len(plan.values)), 2):
        (first, last), (begin, _) = plan.lifetime(a), plan.lifetime(b)
        apart = not set(launches_of(plan, a)) & set(launches_of(plan, b))
        if alone(plan, a) and alone(plan, b) and first < begin < last and apart:
            free = plan.free()
            damaged = plan.with_value(a, offset=free).with_value(b, offset=free)
            yield damaged, rf"writes {name(b)} over bytes {free} .*, which {name(a)} needs until"


def moved_onto_an_argument(plan: Plan) -> Iterator[Fault]:
    for launch in plan.launches:
        given, written = launch.reads[0][0], launch.write[0]
        if (
            given < 0
            or written < 0
            or {plan.values[given].kind, plan.values[written].kind} != {BUFFER}
        ):
            continue
        if launch.write[1] is None and 0 not in launch.in_place and alone(plan, written):
            damaged = plan.with_value(written, offset=plan.values[given].offset)
            yield damaged, r"which share bytes|needs until"


def used_after_its_bytes_were_given_away(plan: Plan) -> Iterator[Fault]:
    for a, b in combinations(range(len(plan.values)), 2):
        one, other = plan.values[a], plan.values[b]
        shared = one.offset < other.end and other.offset < one.end
        if shared and plan.lifetime(a)[1] < plan.lifetime(b)[0]:
            yield used_later(plan, a), r"writes %v\d+ over bytes .* needs until command"


def read_before_it_is_written(plan: Plan) -> Iterator[Fault]:
    for at, launch in enumerate(plan.launches):
        for later in range(at + 1, len(plan.launches)):
            if launch.write[0] in {use[0] for use in plan.launches[later].reads}:
                order = [*plan.launches[:at], plan.launches[later], *plan.launches[at:]]
                del order[later + 1]
                yield replace(plan, launches=tuple(order)), r"reads %v\d+ before"
                break


def a_slice_is_missing(plan: Plan) -> Iterator[Fault]:
    for at, launch in enumerate(plan.launches):
        number, part = launch.write
        if part is None or not any((number, None) in other.reads for other in plan.launches):
            continue
        first, size = plan.values[number].slices[part]
        begin = plan.values[number].offset + first
        rest = (*plan.launches[:at], *plan.launches[at + 1 :])
        yield (
            replace(plan, launches=rest),
            rf"reads {name(number)} before bytes {begin} to {begin + size - 1} of %arena are",
        )


def misaligned(plan: Plan) -> Iterator[Fault]:
    for number in range(len(plan.values)):
        if alone(plan, number):
            at = plan.free() + BASE // 2
            yield (
                plan.with_value(number, offset=at),
                rf"uses {name(number)} from byte {at} of %arena on, but phone requires views",
            )


def past_the_end(plan: Plan) -> Iterator[Fault]:
    for number, value in enumerate(plan.values):
        if alone(plan, number) and value.end == plan.arena:
            yield replace(plan, arena=plan.arena - 1), r"exceed an arena of"


def too_large(plan: Plan) -> Iterator[Fault]:
    yield (
        replace(plan, arena=TARGET.device.max_alloc_bytes + 1),
        r"limits a buffer to 1048576; divide",
    )


def images(plan: Plan) -> Iterator[int]:
    return (i for i, value in enumerate(plan.values) if value.kind == IMAGE)


def pitch_too_small(plan: Plan) -> Iterator[Fault]:
    for number in images(plan):
        pitch = plan.values[number].row - 16
        yield plan.with_value(number, pitch=pitch), rf"a pitch of {pitch} bytes cannot hold rows"


def pitch_misaligned(plan: Plan) -> Iterator[Fault]:
    for number in images(plan):
        pitch = plan.values[number].pitch or 0
        damaged = plan.with_value(number, pitch=pitch + PITCH // 2, offset=plan.free())
        yield (
            damaged,
            rf"the pitch of {name(number)}, {pitch + 32} bytes, must be a multiple of the 64",
        )


def no_pitch(plan: Plan) -> Iterator[Fault]:
    for number in images(plan):
        yield plan.with_value(number, pitch=None), r"an image2d in an arena must have a pitch"


def in_place_elsewhere(plan: Plan) -> Iterator[Fault]:
    for a, b in plan.partners:
        if sum(b in pair or a in pair for pair in plan.partners) == 1 < plan.values[a].bytes / BASE:
            free = plan.free()
            damaged = plan.with_value(a, offset=free).with_value(b, offset=free + BASE)
            yield damaged, rf"given {name(a)} and writes {name(b)}, .* cannot compute in place"


def in_place_of_what_is_read_later(plan: Plan) -> Iterator[Fault]:
    for a, b in plan.partners:
        rule = rf"writes {name(b)} over .* of %arena, which {name(a)} needs until command"
        if plan.lifetime(b)[0] != len(plan.launches) - 1:
            yield used_later(plan, a), rule


def in_place_unlisted(plan: Plan) -> Iterator[Fault]:
    for a, b in plan.partners:
        at = plan.lifetime(b)[0]
        yield (
            plan.with_launch(at, in_place=frozenset()),
            rf"given {name(a)} and writes {name(b)}, .* in_place does not list \[\d, \d\]",
        )


def image_in_place(plan: Plan) -> Iterator[Fault]:
    for launch in plan.launches:
        for given, _ in launch.reads:
            written = launch.write[0]
            if min(given, written) < 0 or BUFFER in {
                plan.values[given].kind,
                plan.values[written].kind,
            }:
                continue
            free = plan.free()
            damaged = plan.with_value(given, offset=free).with_value(written, offset=free)
            yield (
                damaged,
                rf"given {name(given)} and writes {name(written)}, .* a kernel cannot read",
            )


FAULTS: tuple[Callable[[Plan], Iterator[Fault]], ...] = (
    moved_onto_a_live_value,
    moved_onto_an_argument,
    used_after_its_bytes_were_given_away,
    read_before_it_is_written,
    a_slice_is_missing,
    misaligned,
    past_the_end,
    too_large,
    pitch_too_small,
    pitch_misaligned,
    no_pitch,
    in_place_elsewhere,
    in_place_of_what_is_read_later,
    in_place_unlisted,
    image_in_place,
)


@pytest.fixture(scope="module")
def plans() -> list[Plan]:
    return [random_plan(random.Random(seed)) for seed in PROGRAMS]


def test_sound_plans_are_accepted(plans: list[Plan]) -> None:
    for plan in plans:
        build(plan).verify()
    assert sum(bool(plan.partners) for plan in plans) > len(PROGRAMS) / 3
    assert sum(any(v.slices for v in plan.values) for plan in plans) > len(PROGRAMS) / 3


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_refused_by_its_rule(
    fault: Callable[[Plan], Iterator[Fault]], plans: list[Plan]
) -> None:
    planted = [next(fault(plan), None) for plan in plans]
    found = [case for case in planted if case is not None]
    assert len(found) >= 6
    for damaged, rule in found:
        with pytest.raises(VerifyException) as caught:
            build(damaged).verify()
        assert re.search(rule, str(caught.value)), str(caught.value)


def holds(plan: Plan) -> bool:
    """Whether a plan is right, by recording the owner of each byte of the arena.

    A launch may read and write in any order, except in place.
    """
    owners = np.full(plan.arena, -1)
    for launch in plan.launches:
        written = bytes_of(plan, launch.write)
        for position, use in enumerate(launch.reads):
            given = bytes_of(plan, use)
            if use[0] != INPUT and (owners[given] != use[0]).any():
                return False
            apart = given.stop <= written.start or written.stop <= given.start
            if not apart and (position not in launch.in_place or given != written):
                return False
        owners[written] = launch.write[0]
    return True


def bytes_of(plan: Plan, use: Use) -> slice:
    """Of the arena; none for a parameter."""
    number, part = use
    if number < 0:
        return slice(0, 0)
    value = plan.values[number]
    first, size = (0, value.bytes) if part is None else value.slices[part]
    return slice(value.offset + first, value.offset + first + size)


def disturbed(rng: random.Random, plan: Plan) -> Plan:
    """A plan with a value moved or two launches exchanged."""
    if rng.random() < 0.3:
        order = list(plan.launches)
        at = rng.randrange(1, len(order))
        order[at - 1], order[at] = order[at], order[at - 1]
        return replace(plan, launches=tuple(order))
    number = rng.randrange(len(plan.values))
    return plan.with_value(number, offset=rng.randrange(0, plan.arena, BASE))


def test_what_is_accepted_computes_what_it_says() -> None:
    """Most plans that are disturbed at random are wrong, some are not; no wrong one passes."""
    rng, accepted, refused = random.Random(effort.seed() + 1), 0, 0
    for _ in range(effort.examples(150)):
        plan = random_plan(rng)
        for _ in range(rng.randint(1, 2)):
            plan = disturbed(rng, plan)
        try:
            build(plan).verify()
        except VerifyException:
            refused += 1
        else:
            accepted += 1
            assert holds(plan)
    assert accepted > 20
    assert refused > 40
