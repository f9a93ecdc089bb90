"""Whichever call of OpenCL or malloc fails: a sentence, no crash, no leak, and the program goes on.

A fake OpenCL takes the place of a driver: see fake/fake_opencl.h and failures.c.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from support import processes
from support.c import packaged_models as models
from support.c.compilers import compilers, objects

HERE = Path(__file__).parent
FAKE = HERE / "fake"
MODELS = {
    make.__name__: make
    for make in (
        models.parts,
        models.views,
        models.images,
        models.operations,
        models.both,
        models.open_sizes,
    )
}
KHRONOS, QUALCOMM = "cl_khr_command_buffer", "cl_qcom_recordable_queues"
IMAGES = "cl_khr_image2d_from_buffer"


@pytest.fixture(scope="session")
def programs(
    clml_runtime: Sequence[Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """failures.c with a model, the runtime and the fake OpenCL, by the name of the model."""
    (compiler, *_) = compilers()
    folder = tmp_path_factory.mktemp("failures")
    shared = [*clml_runtime, *objects(compiler, sorted(FAKE.glob("*.c")), folder)]
    makers = MODELS | {"turned": models.turned}

    @cache
    def program(name: str) -> Path:
        makers[name]().save_c(folder / name, "net")
        sources = [HERE / "failures.c", *sorted((folder / name).glob("net*.c"))]
        files = [*objects(compiler, sources, folder / name, FAKE, folder / name), *shared]
        made = folder / name / "failures"
        wrapped = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"
        processes.run([compiler, wrapped, *files, "-o", made], check=True)
        return made

    return program


Run = Callable[..., list[list[str]]]


@pytest.fixture
def run(programs: Callable[[str], Path]) -> Run:
    """Runs the program of a model on a device with extensions.

    Returns the commands that the inferences of each run put on the queue: first without a failure,
    then with that of each call.
    """

    def start(
        name: str,
        extensions: str,
        recordable: int = 2,
        before: Sequence[str] = (),
        views: int = 1,
        padding: int = 0,
    ) -> list[list[str]]:
        program = programs(name)
        words = [program, program.parent, extensions, views, recordable, padding, "tell"]
        done = processes.run([*before, *map(str, words)], capture_output=True, text=True)
        calls = re.fullmatch(r"(\d+) calls\n", done.stderr)
        assert not done.returncode, done.stderr
        assert calls, done.stderr
        runs = re.split(r"call \d+\n", done.stdout)[1:]
        assert len(runs) == int(calls[1]) + 2
        return [run.splitlines() for run in runs]

    return start


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("extensions", "views"),
    [("", 1), (KHRONOS, 1), (f"{QUALCOMM} {IMAGES}", 1), (IMAGES, 0)],
)
def test_each_call_fails_once(name: str, extensions: str, views: int, run: Run) -> None:
    assert len(run(name, extensions, views=views)) > 150


@pytest.mark.skipif(not shutil.which("valgrind"), reason="looks at memory: install valgrind")
@pytest.mark.parametrize(
    ("name", "extensions"),
    [
        ("parts", QUALCOMM),
        ("views", f"{KHRONOS} {IMAGES}"),
        ("operations", QUALCOMM),
        ("both", ""),
        ("open_sizes", KHRONOS),
    ],
)
def test_no_failure_harms_memory(name: str, extensions: str, run: Run) -> None:
    checks = ["valgrind", "-q", "--leak-check=full", "--error-exitcode=9"]
    run(name, extensions, before=checks)


FIRST, THEN, REBOUND, MOVED = 0, 1, 2, -2
"""Inferences of failures.c: the first, the same again, one with another input buffer, and the last,
on another queue."""


def test_command_buffers(run: Run) -> None:
    """Recorded at the first inference and after a change of a binding."""
    told = run("parts", KHRONOS)[0]
    recorded = " ".join(["record:twice"] * 4)
    replayed = "replay:twice replay:twice replay:twice copy replay:twice"
    assert told[FIRST] == f"write {recorded} {replayed} read"
    assert told[THEN] == f"write {replayed} read"
    assert told[REBOUND] == f"{recorded} {replayed} read"
    assert told[MOVED] == f"write {recorded} {replayed} read"  # a recording belongs to its queue


def test_recordable_queues(run: Run) -> None:
    """Recordings are no longer than the device allows, and are released when they are outdated."""
    told = run("parts", f"{KHRONOS} {QUALCOMM}")[0]
    recorded = "record:twice record:twice end record:twice end record:twice end"
    replayed = "replay:twice replay:twice replay:twice copy replay:twice"
    assert told[FIRST] == f"write {recorded} {replayed} read"
    assert told[THEN] == f"write {replayed} read"
    assert told[REBOUND] == f"release release release {recorded} {replayed} read"
    longer = run("parts", QUALCOMM, 100)[0][FIRST]
    assert longer.startswith("write record:twice record:twice record:twice end record:twice end")


@pytest.mark.parametrize(("extension", "calls"), [(KHRONOS, 6), (QUALCOMM, 8)])
def test_launch_by_launch_where_recording_fails(extension: str, calls: int, run: Run) -> None:
    """Each call that records fails once, here those after the first launch; nothing is lost."""
    one_by_one = "launch:twice launch:twice launch:twice copy launch:twice"
    failed = [
        told for told in run("parts", extension) if re.match("write .*record.*launch", told[0])
    ]
    assert len(failed) == calls
    for told in failed:
        assert told[FIRST].endswith(f"{one_by_one} read")
        assert told[THEN] == f"write {one_by_one} read"


def test_operations_are_recorded_by_themselves(run: Run) -> None:
    """Copies of tensors cannot be recorded; launches and operations are in recordings of one kind.

    Where only Khronos' extension is there, launches alone are recorded.
    """
    told = run("operations", QUALCOMM, 100)[0]
    recorded = "record:twice end record:conv record:pool end"
    replayed = "replay:twice copy:tensor replay:conv replay:pool copy:tensor"
    assert told[FIRST].split(" ", 3)[3] == f"{recorded} {replayed} read"
    assert told[FIRST].startswith("write:tensor write:tensor write record:twice")
    assert told[THEN] == f"write {replayed} read"
    assert told[REBOUND] == f"release release {recorded} {replayed} read"
    khronos = run("operations", KHRONOS)[0]
    assert khronos[THEN] == "write replay:twice copy:tensor op:conv op:pool copy:tensor read"


def test_second_plan_when_the_first_is_refused(run: Run) -> None:
    """Whichever call fails that creates operations: nothing of them is left, and kernels run."""
    told = run("both", "")
    assert told[0][-1] == "plan: CLML. "
    reasons: set[str] = set()
    for lines in told:
        found = re.fullmatch(r"plan: (CLML|kernels)\. (.*)", lines[-1])
        assert found, lines
        assert any("op:conv op:pool" in line for line in lines) == (found[1] == "CLML")
        assert bool(found[2]) == (found[1] == "kernels")
        named = re.search(r"^cl\w+(?= for )|clQuery\w+|not enough memory|needs version", found[2])
        reasons |= {named[0]} if named else set()
    assert reasons == {
        "clQueryMLInterfaceVersionsQCOM",
        "needs version",  # there is no interface
        "not enough memory",
        "clCreateMLTuningCacheQCOM",
        "clLoadMLTuningCacheQCOM",
        "clCreateMLTensorQCOM",
        "clCreateMLOpFusedConvolutionActivationForwardQCOM",
        "clCreateMLOpPoolingForwardQCOM",
        "clGetMLTensorMemorySizeQCOM",
        "clCreateBuffer",
        "clEnqueueWriteMLTensorDataQCOM",
        "clFinish",
        "clCreateMLTensorMemoryDescriptorSetQCOM",
    }


def test_tensors_that_are_larger_than_planned(run: Run) -> None:
    """They lie in buffers of their own, whichever call fails; nothing else changes."""
    assert run("operations", "", padding=4096)[0] == run("operations", "")[0]


def test_a_row_major_tensor_that_is_larger_than_an_array_is_refused(run: Run) -> None:
    """The bytes of an input or output are the application's, which knows of no padding."""
    (told, *_) = run("both", "", padding=-64)
    assert re.fullmatch(
        r"plan: kernels\. The device needs \d+ bytes for \w+, a row-major tensor of \d+ bytes; "
        r"compile net with the fact clml=off of its target\.",
        told[-1],
    )


def test_tensors_of_one_place_get_the_larger_buffer(run: Run) -> None:
    """The fake OpenCL finds a tensor with too little memory."""
    (told, *_) = run("turned", "", padding=64)
    assert told[THEN] == "write copy:tensor op:conv op:conv copy:tensor read"
