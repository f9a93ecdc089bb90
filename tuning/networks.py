"""Models as the tuner sees them: lowered up to the choice of plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..api import compile as compile_model
from ..backends.pyopencl_runtime import find_device, live_target
from ..backends.targets import TargetChoice
from ..compiled_model import CompiledModel
from ..context import CloptContext, collected_rarely
from ..dialects import cl, nn
from ..frontends.onnx import import_onnx
from ..passes.nn.choose import NNChoosePass, has_accelerators, layout_problem
from ..passes.pipelines import Tuning, run_pipeline
from ..passes.tir.join_strips import TIRJoinStripsPass
from ..passes.tir.tuned_joins import Pair
from .fusion import pairs_of, tasks_in_fusions
from .layouts import Networks
from .trial import Task


@dataclass(frozen=True)
class Model:
    """An ONNX file and what it is compiled for, as `clopt.compile` takes them."""

    path: Path
    device: str | None = None
    """The device that runs it, and that it is tuned for."""
    target: str | None = None
    dims: Mapping[str, int] | None = None
    precision: str = "f32"

    @collected_rarely()
    def tasks(self, tuning: Tuning | None = None) -> list[Task]:
        """Its distinct kernels, in the layouts of tuning databases, and those of other fusions.

        Raises CloptError for a model that cannot be compiled.
        """
        module, ctx = self._lowered(TIRJoinStripsPass, tuning)
        return tasks_in_fusions(module, ctx.weights, tuning or Tuning())

    @collected_rarely()
    def pairs(self, tuning: Tuning | None = None) -> list[Pair]:
        """The pairs of kernels that `tir-join-strips` joins or not, in the layouts of databases."""
        module, _ = self._lowered(TIRJoinStripsPass, tuning)
        return pairs_of(module)

    @collected_rarely()
    def networks(self) -> Networks:
        """Its networks before the choice of layouts; none where an accelerator is part of it.

        Raises CloptError for a model that cannot be compiled so far.
        """
        module, ctx = self._lowered(NNChoosePass)
        target = cl.target_of(module)
        if not target.lanes or has_accelerators(target):
            return Networks([], ctx.weights)
        functions = nn.networks_of(module)
        problems = [layout_problem(function, target, ctx) for function in functions]
        return Networks(problems, ctx.weights)

    def compiled(self, tuning: str | Path) -> CompiledModel:
        """The model with the plans of a database, or of none with `off`."""
        return compile_model(
            self.path,
            self.target,
            self.dims,
            self.device,
            precision=self.precision,
            tuning=tuning,
        )

    def _lowered(
        self, until: type[ModulePass], tuning: Tuning | None = None
    ) -> tuple[ModuleOp, CloptContext]:
        choice = TargetChoice(None, {}) if self.target is None else TargetChoice.parse(self.target)
        target = choice.load() or choice.change(live_target(find_device(self.device)))
        ctx = CloptContext()
        module = import_onnx(self.path, ctx.weights, self.dims)
        cl.set_target(module, target)
        for network in nn.networks_of(module):
            nn.name_parameters(network)
        run_pipeline(ctx, module, "opencl", precision=self.precision, tuning=tuning, until=until)
        return module, ctx
