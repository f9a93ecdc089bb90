"""A network whose kernels take any plan, and what each of its launches writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np
import onnx
from xdsl.dialects.builtin import ArrayAttr, MemRefType, ModuleOp
from xdsl.ir import SSAValue

import clopt
from clopt.backends.programs import program_of
from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.dialects.cl.program import Port
from clopt.frontends.onnx import import_onnx
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.rules.plans import default_plan, plan_of
from clopt.passes.tir.rules.stages import is_naive
from support.tir.plans import every_space, random_point

Plans = Mapping[str, tir.PlanAttr]
"""The plan of each kernel, by its name."""

_TOLERANCE = 1e-4
"""Of the largest value that a launch writes: sums in another order."""


class PlanTrials:
    """A network lowered to naive kernels, for one target."""

    def __init__(self, model: onnx.ModelProto, target: cl.Target) -> None:
        self.target = target
        self.ctx = CloptContext()
        self.module = import_onnx(model, self.ctx.weights, None)
        cl.set_target(self.module, target)
        for network in nn.networks_of(self.module):
            nn.name_parameters(network)
        for stage in ("simplify", "fuse", "lower"):
            run_pipeline(self.ctx, self.module, stage)
        funcs = [op for op in self.module.ops if isinstance(op, tir.FuncOp) and is_naive(op)]
        self.kernels = {func.sym_name.data: func for func in funcs}
        self.defaults = {name: default_plan(func, target) for name, func in self.kernels.items()}

    def plans_of(self, name: str, most: int, rng: np.random.Generator) -> list[tir.PlanAttr]:
        """The points of each rule that fits a kernel, `most` at random where there are more."""
        found: dict[str, tir.PlanAttr] = {}
        for rule, space in every_space(self.kernels[name], self.target):
            points = list(islice(space.points(), most + 1))
            if len(points) > most:
                points = [random_point(space, lambda v: v[rng.integers(len(v))]) for _ in points]
            plans = [plan_of(rule, point) for point in points[:most]]
            found |= {str(plan): plan for plan in plans}
        return list(found.values())

    def rounds(self, most: int, rng: np.random.Generator) -> Iterator[dict[str, tir.PlanAttr]]:
        """`plans_of` each kernel in turn, for all kernels at once."""
        plans = {name: self.plans_of(name, most, rng) for name in self.kernels}
        for own in plans.values():
            rng.shuffle(own)
        for number in range(max(map(len, plans.values()))):
            yield {
                name: own[number] if number < len(own) else self.defaults[name]
                for name, own in plans.items()
            }

    def faults(
        self,
        plans: Plans,
        inputs: Mapping[str, np.ndarray],
        expected: Mapping[str, np.ndarray],
        device: str,
    ) -> list[str]:
        """The kernels that fail, or write something else than `expected`, each with its plan."""
        plans, found = dict(plans), list[str]()
        while True:
            try:
                results = self.run(plans, inputs, device)
            except Exception as error:
                wrong, reason = self._culprit(plans, inputs, device), repr(error)[:300]
            else:
                wrong = next((n for n in expected if not _same(results[n], expected[n])), "")
                reason = (
                    "" if not wrong else f"not the same by {_difference(results, expected, wrong)}"
                )
            if not wrong:
                return found
            kernel = wrong.split()[0]
            found.append(f"@{kernel}: {plans[kernel]}: {reason}")
            plans[kernel] = self.defaults[kernel]

    def _culprit(self, plans: Plans, inputs: Mapping[str, np.ndarray], device: str) -> str:
        """A kernel that alone makes a run fail."""
        for name, plan in plans.items():
            try:
                self.run(self.defaults | {name: plan}, inputs, device)
            except Exception:
                return name
        raise AssertionError("no kernel fails alone")

    def run(
        self, plans: Plans, inputs: Mapping[str, np.ndarray], device: str | None = None
    ) -> dict[str, np.ndarray]:
        """What each launch writes, in order, by the kernel's name and a number."""
        module, ctx = self.module.clone(), self.ctx.clone()
        for op in module.ops:
            if isinstance(op, tir.FuncOp) and op.sym_name.data in plans:
                op.plan = plans[op.sym_name.data]
        run_pipeline(ctx, module, "schedule")
        names = _expose(module)
        module.verify()
        model = clopt.compile(
            module, self.target, device=device, weights=ctx.weights, use_cache=False
        )
        results = dict(zip(names, model.run(inputs), strict=True))
        return dict(sorted(results.items(), key=lambda item: int(item[0].split()[1])))


def _same(got: np.ndarray, want: np.ndarray) -> bool:
    return bool(np.abs(got - want).max(initial=0) <= _TOLERANCE * np.abs(want).max(initial=0))


def _difference(
    results: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], name: str
) -> float:
    return float(np.abs(results[name] - expected[name]).max())


def _expose(module: ModuleOp) -> list[str]:
    """Add outputs for all that launches write into memory of the program, but for parts of sums.

    Returns a name for each output, in the order of the program's: that of the kernel that writes
    it, and a number.
    """
    program = program_of(module)
    block = program.body.block
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
    ports = list(program.ports)
    launches = [op for op in block.ops if isinstance(op, cl.EnqueueKernelOp)]
    launches = [op for op in launches if not _is_inner(kernels[op.kernel_name])]
    names: dict[SSAValue, str] = {}
    for number, launch in enumerate(launches):
        for rank, position in enumerate(kernels[launch.kernel_name].output_indices):
            value = launch.args[position]
            assert isinstance(value.type, MemRefType)
            output = value
            if value not in block.args:
                name = f"launch {number}, {rank}"
                ports.append(Port(name, value.type.element_type, value.type.get_shape()))
                output = block.insert_arg(ports[-1].storage_type, len(block.args))
                block.insert_op_after(cl.EnqueueCopyOp(value, output), launch)
            names[output] = f"{launch.kernel_name} {number} {rank}"
    program.arg_attrs = ArrayAttr([port.attributes() for port in ports])
    outputs = block.args[program.input_count :]
    return [names[output] for output in outputs]


def _is_inner(kernel: tir.FuncOp) -> bool:
    """Whether a kernel writes parts of sums, which other plans of the whole do not have."""
    return kernel.part_of is not None and kernel.part_of != kernel.sym_name
