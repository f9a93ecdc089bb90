"""A live CPU is measured once; what was measured is kept, read, edited and given."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pyopencl as cl
import pytest

import clopt
from clopt import CloptError
from clopt.backends.pyopencl_runtime import calibration, find_device, live_target, target_for
from clopt.backends.pyopencl_runtime.calibration import CHOICE, calibrate
from clopt.backends.pyopencl_runtime.calibration.readings import Built, Kernels, Readings
from clopt.errors import CloptWarning
from clopt.targets import load_target
from clopt.tools import run

MODEL = Path(__file__).parents[4] / "examples" / "digits" / "digits.onnx"
MEASURED = Readings([[20e-12, 10e-12]], [0.02e-9], [3e-6])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(CHOICE, "auto")


@pytest.fixture
def measurements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The devices that are measured, by a clock that is made up."""
    found: list[str] = []

    def build(self: Kernels) -> Built:
        return Built(self, cl.Context([self.device.handle]), {})

    def read(built: Built) -> Readings:
        found.append(built.kernels.device.name)
        return MEASURED

    monkeypatch.setattr(Kernels, "build", build)
    monkeypatch.setattr(calibration, "read", read)
    return found


def kept_file(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "cache" / "clopt" / "devices").iterdir()
    return file


def test_measured_on_first_use_and_never_again(
    device: str, measurements: list[str], tmp_path: Path
) -> None:
    used = find_device(device)
    with pytest.warns(
        CloptWarning, match=r"^measured .* in \d+\.\d s, once; its facts are kept in"
    ):
        first = live_target(used)
    with warnings.catch_warnings(action="error"):
        assert live_target(used) == first
    assert measurements == [used.name]
    assert (
        first.machine.vector_width,
        first.machine.mads_per_nanosecond,
        first.machine.bandwidth,
    ) == (16, 100.0, 50.0)
    assert first.name == target_for(used).name
    assert kept_file(tmp_path).stat().st_mode & 0o022 == 0


def test_the_file_is_a_target_like_the_device(
    device: str, measurements: list[str], tmp_path: Path
) -> None:
    file = calibrate(find_device(device))
    assert file == kept_file(tmp_path)
    live = live_target(find_device(device))
    assert load_target(str(file)) == replace(live, name=file.stem)
    text = file.read_text()
    assert find_device(device).name in text
    assert find_device(device).driver in text
    assert "vector_width = 16" in text


def test_an_edit_counts_but_for_what_the_device_says(
    device: str, measurements: list[str], tmp_path: Path
) -> None:
    file = calibrate(find_device(device))
    base = f'base = "{target_for(find_device(device)).name}"\n'
    facts = "[device]\ncompute_units = 999\n[machine]\nvector_width = 4\nl1_cache_bytes = 12345\n"
    file.write_text(base + facts)
    live = live_target(find_device(device))
    assert (live.machine.vector_width, live.machine.l1_cache_bytes) == (4, 12345)
    assert live.device.compute_units == find_device(device).compute_units
    file.write_text("lanes = 4\n")
    with pytest.raises(CloptError, match='"lanes" is not a fact of a target') as error:
        live_target(find_device(device))
    assert str(error.value).startswith(str(file))
    assert calibrate(find_device(device)) == file
    assert live_target(find_device(device)).machine.vector_width == 16


def test_off_and_unknown_choices(
    device: str, measurements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calibrate(find_device(device))
    monkeypatch.setenv(CHOICE, "off")
    assert live_target(find_device(device)) == target_for(find_device(device))
    monkeypatch.setenv(CHOICE, "on")
    with pytest.raises(CloptError, match='CLOPT_CALIBRATION must be auto or off, not "on"'):
        live_target(find_device(device))


def test_without_a_cache_the_facts_of_the_file(
    device: str, measurements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
    with warnings.catch_warnings(action="ignore"):
        assert live_target(find_device(device)) == target_for(find_device(device))
    assert measurements == []
    with pytest.raises(CloptError, match="cannot store the measured facts in /proc/clopt/devices/"):
        calibrate(find_device(device))


def test_a_file_that_others_can_write_is_made_anew(device: str, measurements: list[str]) -> None:
    file = calibrate(find_device(device))
    file.write_text('base = "pocl"\n[machine]\nvector_width = 2\n')
    file.chmod(0o666)
    with pytest.warns(CloptWarning, match="^measured"):
        assert live_target(find_device(device)).machine.vector_width == 16


def test_a_driver_that_refuses_is_no_obstacle(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(self: Kernels) -> Built:
        raise cl.RuntimeError("no linker")

    monkeypatch.setattr(Kernels, "build", build)
    with pytest.warns(CloptWarning, match="that measure it: no linker; clopt uses the facts of "):
        assert live_target(find_device(device)) == target_for(find_device(device))
    with pytest.raises(CloptError, match="does not run the kernels that measure it: no linker"):
        calibrate(find_device(device))


def test_kernels_are_compiled_until_the_target_is_needed(
    device: str, measurements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build, begun = Kernels.build, Event()

    def begin(self: Kernels) -> Built:
        begun.set()
        return build(self)

    monkeypatch.setattr(Kernels, "build", begin)
    target = calibration.start_live_target(find_device(device))
    assert begun.wait(60)
    assert not measurements
    with pytest.warns(CloptWarning, match="^measured"):
        assert target().machine.vector_width == 16


def test_a_driver_that_does_not_answer_is_no_obstacle(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave = Event()
    monkeypatch.setattr(calibration, "_MOST_SECONDS", 0.1)
    monkeypatch.setattr(Kernels, "build", lambda self: leave.wait(60))
    try:
        with pytest.warns(CloptWarning, match="that measure it: no answer in 0.1 s; clopt uses"):
            assert live_target(find_device(device)) == target_for(find_device(device))
    finally:
        leave.set()


def test_a_cache_that_fills_up_or_is_no_folder(
    device: str, measurements: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def write(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(calibration, "write_atomically", write)
    with pytest.warns(CloptWarning, match="cannot write here: No space left on device; clopt use"):
        assert live_target(find_device(device)) == target_for(find_device(device))
    with pytest.raises(CloptError, match=r"toml: cannot write here: No space left on device\.$"):
        calibrate(find_device(device))
    folder = tmp_path / "cache" / "clopt" / "devices"
    folder.rmdir()
    folder.touch()
    measurements.clear()
    assert live_target(find_device(device)) == target_for(find_device(device))
    assert measurements == []


def test_gpus_and_unknown_runtimes_are_not_measured(
    device: str, measurements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = load_target("generic")
    monkeypatch.setattr(calibration, "target_for", lambda _: unknown)
    assert live_target(find_device(device)) == unknown
    gpu = load_target("nvidia")
    monkeypatch.setattr(calibration, "target_for", lambda _: gpu)
    assert live_target(find_device(device)) == gpu
    with pytest.raises(CloptError, match="is not a CPU: its facts come from the target nvidia and"):
        calibrate(find_device(device))
    assert measurements == []


def test_a_real_calibration_serves_a_model(
    device: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without a made-up clock: plausible figures, and code for them that computes right."""
    run.main([str(MODEL), "--dim", "batch=1", "--device", device])
    told = capfd.readouterr().err.splitlines()
    # PoCL counts its compiler's warnings here on processors with vectors of 8 floats.
    remarks = [line for line in told if not line.endswith(" warnings generated.")]
    assert len(remarks) == 1
    assert remarks[0].startswith("remark: measured ")
    file = kept_file(tmp_path)
    target = load_target(str(file))
    assert target.machine.vector_width in (8, 16)
    assert 1 < target.machine.mads_per_nanosecond < 1000
    assert 0.1 < target.machine.bandwidth < 10_000
    assert 0.1 < target.machine.launch_microseconds < 10_000
    assert 0.1 <= target.machine.turn_microseconds < 10_000
    image = np.random.default_rng(0).random((1, 1, 8, 8), np.float32)
    given = clopt.compile(MODEL, file, {"batch": 1}, device)
    live = clopt.compile(MODEL, dims={"batch": 1}, device=device)
    named = clopt.compile(MODEL, "generic", {"batch": 1}, device)
    assert given.source == live.source
    np.testing.assert_array_equal(given.run([image]), live.run([image]))
    np.testing.assert_allclose(given.run([image]), named.run([image]), rtol=1e-4, atol=1e-5)


def test_the_tool_measures_again(
    device: str, measurements: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for _ in range(2):
        run.main(["--calibrate", "--device", device])
    assert len(measurements) == 2
    out = capsys.readouterr().out
    assert out.endswith(f"kept in {kept_file(tmp_path)}\n")
    assert "vector_width = 16" in out
