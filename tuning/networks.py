"""Models lowered for the tuner: up to plans, with plans, or completely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..api import compile as compile_model
from ..backends.pyopencl_runtime import find_device, live_target
from ..compilation import check_precision, read_module
from ..compiled_model import CompiledModel
from ..context import CloptContext
from ..decisions.choice_file import choices_text
from ..decisions.choices import demand
from ..decisions.database import Tuning
from ..dialects import cl, nn
from ..errors import CloptError
from ..formats import format_of
from ..frontends.onnx.importer import check_dims
from ..frontends.onnx.model import Model, read_model
from ..passes.pipelines import run_pipeline
from ..passes.tir.apply_plan import TIRApplyPlanPass
from ..passes.tir.choose_plan import TIRChoosePlanPass
from ..sequence_model import SequenceModel
from ..targets import TargetChoice
from .tasks import tasks_of
from .trial import Task

_SHORT_ONNX = 2**26
"""Bytes of an ONNX model that can be parsed without a delay: 0.2 s (Zen 4)."""
_SHORT_TEXT = 2**18
"""The same of other formats: text, read by parsers in Python."""


@dataclass(frozen=True)
class TunedModel:
    """A model's file, with the arguments for `clopt.compile`."""

    path: Path
    device: str | None = None
    """The device that runs the model and for which it is tuned."""
    target: str | None = None
    dims: Mapping[str, int] | None = None
    precision: str = "f32"

    def check(self) -> None:
        """Raise CloptError for a wrong option, an absent file or a short file not of its format.

        A search reads the model only after it has started processes, which takes seconds.
        """
        check_precision(self.precision)
        self._target_choice.load()
        if self._short_onnx is not None:
            check_dims(self._short_onnx, self.dims or {})
        elif format_of(self.path) != "onnx" and self._size() <= _SHORT_TEXT:
            read_module(self.path, self.dims, CloptContext())

    def tasks(self, tuning: Tuning | None = None) -> list[Task]:
        """Return its distinct kernels, with the choices of databases.

        Raises CloptError if the model cannot be compiled.
        """
        module, ctx = self._lowered(TIRChoosePlanPass, tuning)
        return tasks_of(module, ctx.weights)

    def compiled(self, tuning: str | Path, choices: Iterable[cl.ChoiceAttr] = ()) -> CompiledModel:
        """Compile the model with a database, or without one with `off`; `choices` come first."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "choices")
            path.write_text(choices_text(choices))
            compiled = compile_model(
                self.path,
                self.target,
                self.dims,
                self.device,
                precision=self.precision,
                choices=path,
                tuning=tuning,
                turn_microseconds=0.0,  # each kernel is timed in a launch of its own
            )
        return compiled.stated() if isinstance(compiled, SequenceModel) else compiled

    def planned(self, tuning: Tuning, choices: Iterable[cl.ChoiceAttr]) -> ModuleOp:
        """Return its module with the plans of all kernels; `choices` come first."""
        return self._lowered(TIRApplyPlanPass, tuning, choices)[0]

    @property
    def _target_choice(self) -> TargetChoice:
        return TargetChoice(None, {}) if self.target is None else TargetChoice.parse(self.target)

    @cached_property
    def _short_onnx(self) -> Model | None:
        """The content of a short ONNX model, which is parsed once."""
        is_short = format_of(self.path) == "onnx" and self._size() <= _SHORT_ONNX
        return read_model(self.path) if is_short else None

    def _size(self) -> int:
        """Return the bytes of the file."""
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise CloptError(f"Cannot read {self.path}: {error.strerror}.") from error

    def _lowered(
        self,
        until: type[ModulePass],
        tuning: Tuning | None = None,
        choices: Iterable[cl.ChoiceAttr] | None = None,
    ) -> tuple[ModuleOp, CloptContext]:
        choice = self._target_choice
        target = choice.load() or choice.change(live_target(find_device(self.device)))
        ctx = CloptContext()
        module = read_module(self.path, self.dims, ctx, parsed=self._short_onnx)
        cl.set_target(module, target)
        if choices is not None:
            demand(module, choices)
        for network in nn.entries_of(module):
            nn.name_parameters(network)
        run_pipeline(ctx, module, "opencl", precision=self.precision, tuning=tuning, until=until)
        return module, ctx
