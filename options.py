"""The arguments of `clopt.compile` and `clopt.load`, as values that check themselves.

Importing this module loads neither the compiler nor ONNX, because models from the cache need
neither.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from .accelerators import accelerators
from .backends.pyopencl_runtime import CommandQueue, Context
from .backends.pyopencl_runtime.devices import Device, DeviceName
from .backends.pyopencl_runtime.place import choose_place
from .backends.pyopencl_runtime.shared_arenas import SharedArenas
from .errors import CloptError
from .files.arrays import read_arrays
from .messages.arguments import check_type
from .restriction import Change

if TYPE_CHECKING:
    from .backends.pyopencl_runtime import DeviceMemory
    from .backends.pyopencl_runtime.arrays import Array
    from .machine.facts import Fact
    from .machine.target import Target
    from .tensor_info import Ranks
    from .weights import Weights

A_DEVICE = "a part of its name, its number in clopt.list_devices(), or an entry of it"

DeviceChoice: TypeAlias = str | int | Device
"""A part of a device's name, its number in `list_devices()`, or an entry of that list."""

FORMS = ("int8", "int8-per-channel")

REPORT = "report"
"""The value of `explain` that keeps the choices of the passes for a report."""


@dataclass(frozen=True)
class Place:
    """Where a model runs, for `device=` of `clopt.compile`, in more detail than a device.

    `queue` is an in-order queue for `run`. Without it, `context` decides; without both, `device`.
    `arena` is a list of buffers of the context for the intermediate results, each of at least
    `executable.arena_bytes`. Models on one queue may share them.
    """

    device: DeviceChoice | None = None
    context: Context | None = None
    queue: CommandQueue | None = None
    arena: Sequence[DeviceMemory] | SharedArenas | None = None

    def __post_init__(self) -> None:
        check_type("device", self.device, (str, int, Device), A_DEVICE)
        check_type("context", self.context, (Context,), "a pyopencl.Context")
        check_type("queue", self.queue, (CommandQueue,), "a pyopencl.CommandQueue")
        check_type("arena", self.arena, (Sequence, SharedArenas), "a list of buffers of pyopencl")

    @classmethod
    def of(cls, device: DeviceChoice | Place | None) -> Place:
        """Return the argument `device` as a place."""
        return device if isinstance(device, Place) else cls(device)

    @property
    def is_given(self) -> bool:
        """Whether it names a device, a context or a queue."""
        return any(given is not None for given in (self.device, self.context, self.queue))

    def chosen(self) -> Place:
        """Return this place with its device, context and queue filled in."""
        device, context, queue = choose_place(self.device, self.context, self.queue)
        return replace(self, device=device, context=context, queue=queue)


@dataclass(frozen=True)
class Origin:
    """How a model got its device, so that another process can do the same."""

    device: str | DeviceName | None
    """A part of a name as the caller gave it, or the name of the device; None for the first device.
    """
    caller_owns: str | None
    """The kind of the caller's object in the place, if any: a queue, a context or an arena."""
    accelerators: Mapping[str, str]
    use_cache: bool

    @classmethod
    def of(
        cls, asked: Place, device: Device | None, accelerators: Mapping[str, str], use_cache: bool
    ) -> Origin:
        """Return the origin of a model on `device`, for which the caller passed `asked`."""
        owned = (name for name in ("queue", "context", "arena") if getattr(asked, name) is not None)
        choice = device and DeviceName.of(device)
        if isinstance(asked.device, str) and not asked.device.strip().isdecimal():
            choice = asked.device
        return cls(choice, next(owned, None), accelerators, use_cache)


@dataclass(frozen=True)
class Quantization:
    """How to round a network to int8, for `quantize=` of `clopt.compile`.

    `form` is "int8", or "int8-per-channel" with one scale per output channel of the weights; None
    keeps floats. Scales are powers of two if an accelerator of the target needs this, or with
    `round_scales`.

    `samples` holds inputs, as arrays by name or the path of an .npz file, in batches along axis 0.
    The float network runs on them, on the device of the compilation or the first one. `method`
    computes the ranges from its values: "kl" (default) keeps most of the distribution, "max" keeps
    all values, and "percentile" drops one element in a hundred thousand. "global-scale" uses a
    range of 8 for all values and needs no samples. With `report` the samples run again, and
    `CompiledModel.quantization` lists the error of each value relative to the float network.

    `round_scales` also rounds the scales of a model that is already quantised;
    `CompiledModel.remarks` lists the error of each of its weights.
    """

    form: str | None = None
    samples: Mapping[str, Array] | str | Path | None = None
    method: str | None = None
    report: bool = False
    round_scales: bool = False

    def __post_init__(self) -> None:
        from .passes.nn.quantization.histogram import RANGES

        if self.form is None:
            if self.samples is not None or self.method is not None or self.report:
                raise CloptError(
                    f"samples, a method and a report apply to networks that clopt quantises; name "
                    f"the form, {' or '.join(FORMS)}."
                )
            return
        if self.form not in FORMS:
            raise CloptError(f'quantize must be one of {", ".join(FORMS)}, not "{self.form}".')
        methods = ("global-scale", *RANGES)
        if self.method is not None and self.method not in methods:
            raise CloptError(
                f'the calibration method must be one of {", ".join(methods)}, not "{self.method}".'
            )
        if self.samples is None and (self.reads_samples or self.report):
            wanted = "a report of errors" if self.report else f"the method {self.method}"
            raise CloptError(f"{wanted} needs samples: arrays named like the inputs.")

    @classmethod
    def of(cls, quantize: str | Quantization | None) -> Quantization | None:
        """Return the argument `quantize` as a value."""
        check_type("quantize", quantize, (str, cls), '"int8", or a clopt.Quantization')
        return cls(quantize) if isinstance(quantize, str) else quantize

    @property
    def ranges(self) -> str:
        """The method for ranges; by default the one that the samples allow."""
        return self.method or ("global-scale" if self.samples is None else "kl")

    @property
    def reads_samples(self) -> bool:
        """Whether ranges are computed from samples."""
        return self.ranges != "global-scale"

    def arrays(self) -> Mapping[str, Array]:
        """Return the samples; read them from their file if necessary."""
        if isinstance(self.samples, str | PathLike):
            return read_arrays(Path(self.samples))
        return self.samples or {}


@dataclass(frozen=True)
class CompileOptions:
    """All arguments that determine the program, besides the model and the device.

    Every field is part of the key in the cache of compiled models.
    """

    target: str | Path | Target | None = None
    dims: Mapping[str, int] | None = None
    values: Mapping[str, Array] = field(default_factory=dict[str, "Array"])
    """The inputs that are constants of the program, because their values decide shapes."""
    elements: Mapping[str, Ranks] | None = None
    """The elements of the inputs that are sequences or optionals; the program takes these."""
    precision: str = "f32"
    strict_half: bool = False
    images: Sequence[str] = ()
    in_place: Mapping[str, str] = field(default_factory=dict[str, str])
    """The outputs that overwrite an input, and that input."""
    largest: Mapping[str, int] = field(default_factory=dict[str, int])
    """The largest sizes of open dimensions, for which caches that grow in place have room."""
    quantization: Quantization | None = None
    memory_limit: int | None = None
    ranged: tuple[str, int] | None = None
    """The symbol of `dims` whose smaller values the program also serves
    (`CompiledModel.restricted`), and the least of them that is to be fast."""
    changes: Sequence[Change] = ()
    """The changes by which the program serves smaller sizes (`passes.nn.restriction`)."""
    choices: str | Path | None = None
    tuning: str | Path | None = None
    fallback: bool = False
    accelerators: Mapping[str, str] = field(default_factory=dict[str, str])
    weights: Weights | None = None
    explain: bool | str = False
    """True prints tables on stderr; "report" keeps all choices for `CompiledModel.report`."""
    facts: Mapping[str, Fact] = field(default_factory=dict[str, "Fact"])

    def key(self) -> str | None:
        """Return the fields as JSON, or None if they do not determine the result."""
        # A target's file may refer to others; samples may be large, or in a file that changes.
        target, asked = self.target, self.quantization
        is_named = target is None or (isinstance(target, str) and ".toml" not in target)
        is_measured = asked is not None and asked.samples is not None
        if not is_named or is_measured or self.accelerators or self.explain or self.weights:
            return None
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        try:
            return json.dumps(values, default=_plain)
        except (TypeError, ValueError):
            return None


def _plain(value: object) -> object:
    """Return an option's value as JSON represents it."""
    if isinstance(value, np.ndarray):
        array = cast("Array", value)
        return [array.dtype.str, array.shape, array.tobytes().hex()]
    if isinstance(value, PathLike):
        return fspath(cast("PathLike[str]", value))
    is_record = is_dataclass(value) and not isinstance(value, type)
    return vars(value) if is_record else dict(cast("Any", value))


def checked_accelerators(given: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the argument `accelerators`; raise CloptError for accelerators without a library."""
    known = [name for name, row in accelerators().items() if row.runtime]
    wanted = f'a mapping of accelerators to libraries, for example {{"{known[0]}": "reference"}}'
    check_type("accelerators", given, (Mapping,), wanted)
    for name in given or {}:
        if name not in known:
            raise CloptError(f'accelerators names "{name}"; it may name {", ".join(known)}.')
    return given or {}
