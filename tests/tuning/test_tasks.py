"""Tasks are the distinct kernels of a model, and their programs the memory of its launches."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from clopt.dialects import cl, tir
from clopt.dialects.cl.placement import roots
from clopt.frontends.onnx import importer
from clopt.frontends.onnx import model as onnx_model
from clopt.passes.tir.kernel_key import kernel_key
from clopt.targets import load_target
from clopt.tuning import networks
from clopt.tuning.networks import TunedModel
from clopt.tuning.programs import Programs
from support.tuning.networks import default_trial, residual_network, residual_tasks

CONV = Path(__file__).parents[2] / "docs" / "conv.onnx"
POCL = load_target("pocl")
ADRENO = load_target("adreno-740").with_facts({"texture": "prefer"})


def test_the_kernels_of_a_network_in_linalg_are_tasks():
    path = Path(__file__).parents[1] / "frontends/linalg/networks/classifier.mlir"
    tasks = TunedModel(path, target="pocl").tasks()
    assert [task.name for task in tasks] == ["matmul_0", "matmul_1", "generic_2"]


def test_a_short_onnx_model_is_parsed_once(monkeypatch: pytest.MonkeyPatch):
    read: list[object] = []
    parse = onnx_model.read_model
    for module in (networks, importer):
        monkeypatch.setattr(module, "read_model", lambda path: read.append(path) or parse(path))
    model = TunedModel(CONV, target="pocl", dims={"batch": 1})
    model.check()
    names = [task.name for task in model.tasks()]
    assert names == ["pad_0", "conv_1"]
    assert [task.name for task in model.tasks()] == names
    assert read == [CONV]


def test_equal_kernels_are_one_task_with_all_its_launches():
    module, _ = residual_network(POCL)
    (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
    launches = [op for op in cl.commands(program) if isinstance(op, cl.EnqueueKernelOp)]
    tasks = residual_tasks(POCL)
    assert len({task.kernel for task in tasks}) == len(tasks) < len(launches)
    assert sum(task.launches for task in tasks) == len(launches)


def test_a_task_has_the_key_under_which_the_compiler_looks_for_plans():
    module, _ = residual_network(POCL)
    kernels = {kernel_key(op): op for op in module.ops if isinstance(op, tir.FuncOp)}
    tasks = residual_tasks(POCL)
    assert {task.kernel for task in tasks} == set(kernels)
    for task in tasks:
        assert kernel_key(Programs(task).kernel) == task.kernel


def test_a_task_survives_the_way_to_another_process():
    for task in residual_tasks(ADRENO):
        copy = pickle.loads(pickle.dumps(task))
        trial = default_trial(copy)
        assert str(Programs(copy).of(trial.plan).module) == str(
            Programs(task).of(trial.plan).module
        )


def test_values_lie_where_they_lie_in_the_model():
    module, _ = residual_network(ADRENO)
    (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
    types: dict[str, list[object]] = {}
    for op in cl.commands(program):
        if isinstance(op, cl.EnqueueKernelOp):
            types.setdefault(op.kernel_name, [value.type for value in op.args])
    images = 0
    for task in residual_tasks(ADRENO):
        made = Programs(task).of(default_trial(task).plan)
        (trial,) = (op for op in made.module.ops if isinstance(op, cl.ProgramOp))
        launch = cl.commands(trial)[made.timed.start]
        assert isinstance(launch, cl.EnqueueKernelOp)
        assert len(made.timed) == 1
        assert [value.type for value in launch.args] == types[task.name]
        images += sum(tir.is_texture(value.type) for value in launch.args)
    assert images > 3


def test_a_result_lies_over_an_operand_only_where_it_does_in_the_model():
    """The sum of a residual block may overwrite a convolution's result, and not the input."""
    tasks = residual_tasks(POCL.with_facts({"blocks": "off", "winograd": "off"}))
    assert [task.in_place for task in tasks if "nn.binary" in task.nodes] == [False]
    assert any(task.traffic for task in tasks)


def test_inputs_of_the_model_are_written_before_memory_streams_through_the_caches():
    """A kernel's time once was half of that in its network, as its input was in the caches."""
    for task in residual_tasks(POCL):
        made = Programs(task).of(default_trial(task).plan)
        (trial,) = (op for op in made.module.ops if isinstance(op, cl.ProgramOp))
        before = cl.commands(trial)[: made.timed.start]
        copied = [roots(trial)[command.operands[0]] for command in before]
        numbers = [list(trial.body.block.args).index(value) for value in copied]
        streamed = len(numbers) - 1
        assert numbers == [*sorted(task.given), streamed, *sorted({*range(streamed)} - task.given)]
    given = [task.given for task in residual_tasks(POCL)]
    assert given[0] == {0}
    assert given[-1] == frozenset()
