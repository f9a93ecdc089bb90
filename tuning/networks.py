"""Models lowered for the tuner, up to the choice of forms, layouts or plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..api import compile as compile_model
from ..backends.pyopencl_runtime import find_device, live_target
from ..compilation import read_module
from ..compiled_model import CompiledModel
from ..context import CloptContext
from ..decisions.choice_file import choices_text
from ..decisions.database import DeviceDriver, TuningDatabase
from ..dialects import cl, nn
from ..passes.nn.choose import NNChoosePass, has_accelerators, layout_problem
from ..passes.nn.forms import open_convolutions, rewrite
from ..passes.nn.layout.problem import LayoutProblem
from ..passes.nn.tuned_forms import TunedForms
from ..passes.pipelines import Tuning, run_pipeline
from ..passes.tir.join_strips import TIRJoinStripsPass
from ..passes.tir.tuned_joins import Pair
from ..targets import TargetChoice
from .forms import TunedFormChoice
from .fusion import pairs_of, tasks_in_fusions
from .layouts import Networks
from .trial import Task


@dataclass(frozen=True)
class TunedModel:
    """A model's file, with the arguments for `clopt.compile`."""

    path: Path
    device: str | None = None
    """The device that runs the model and for which it is tuned."""
    target: str | None = None
    dims: Mapping[str, int] | None = None
    precision: str = "f32"

    def tasks(self, tuning: Tuning | None = None) -> list[Task]:
        """Return its distinct kernels, in the layouts of databases, and those of other fusions.

        Raises CloptError if the model cannot be compiled.
        """
        module, ctx = self._lowered(TIRJoinStripsPass, tuning)
        return tasks_in_fusions(module, ctx.weights, tuning or Tuning())

    def pairs(self, tuning: Tuning | None = None) -> list[Pair]:
        """Return the pairs of kernels that could be joined, in the layouts of databases."""
        module, _ = self._lowered(TIRJoinStripsPass, tuning)
        return pairs_of(module)

    def forms(self) -> TunedFormChoice:
        """Return its networks before the choice of forms; none if an accelerator takes part in it.

        Raises CloptError if the model cannot be compiled up to this point.
        """
        module, ctx = self._lowered(NNChoosePass)
        target = cl.target_of(module)
        functions = [] if has_accelerators(target) else nn.networks_of(module)
        found = [open_convolutions(function, target, ctx) for function in functions]
        return TunedFormChoice(found, functions, ctx.weights, target)

    def networks(self, tuning: Tuning | None = None) -> Networks:
        """Return its networks in the forms of tuning databases, before the choice of layouts.

        There are none if an accelerator takes part in that choice. Raises CloptError if the model
        cannot be compiled up to this point.
        """
        module, ctx = self._lowered(NNChoosePass)
        target = cl.target_of(module)
        problems: list[LayoutProblem] = []
        if target.lanes and not has_accelerators(target):
            forms = _tuned_forms(tuning or Tuning(), target)
            for function in nn.networks_of(module):
                rewrite(function, target, ctx, forms)
                problems.append(layout_problem(function, target, ctx))
        return Networks(problems, ctx.weights, target)

    def compiled(self, tuning: str | Path, choices: Iterable[cl.ChoiceAttr] = ()) -> CompiledModel:
        """Compile the model with a database, or without one with `off`; `choices` come first."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "choices")
            path.write_text(choices_text(choices))
            return compile_model(
                self.path,
                self.target,
                self.dims,
                self.device,
                precision=self.precision,
                choices=path,
                tuning=tuning,
            )

    def _lowered(
        self, until: type[ModulePass], tuning: Tuning | None = None
    ) -> tuple[ModuleOp, CloptContext]:
        choice = TargetChoice(None, {}) if self.target is None else TargetChoice.parse(self.target)
        target = choice.load() or choice.change(live_target(find_device(self.device)))
        ctx = CloptContext()
        module = read_module(self.path, self.dims, ctx)
        cl.set_target(module, target)
        for network in nn.networks_of(module):
            nn.name_parameters(network)
        run_pipeline(ctx, module, "opencl", precision=self.precision, tuning=tuning, until=until)
        return module, ctx


def _tuned_forms(tuning: Tuning, target: cl.Target) -> TunedForms:
    database = TuningDatabase.found(tuning.tuning, tuning.places, target)
    return TunedForms(database, DeviceDriver(tuning.device, tuning.driver), target)
