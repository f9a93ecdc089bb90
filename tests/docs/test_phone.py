"""docs/your-own-model.md works as it stands, with a folder of this machine for the phone."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support import pages

PAGE = Path(__file__).parents[2] / "docs" / "your-own-model.md"

ADB = """\
#!/bin/sh
# The phone is a folder of this machine. A program that listens on a port stays, without our pipes.
case $1 in
    pull) cp "$TEST_OPENCL" . ;;
    push) shift; for file in "$@"; do [ "$file" = /data/local/tmp/ ] || cp "$file" "$PHONE"; done ;;
    forward) ;;
    shell) shift
        command=$(echo "$*" | sed "s#/data/local/tmp#$PHONE#g")
        case $command in
            *--port*) echo $$ > "$PHONE/pid"; exec $command > "$PHONE/log" 2>&1 < /dev/null ;;
            *) exec sh -ec "$command" ;;
        esac ;;
    *) exit 1 ;;
esac
"""

# The network that PyTorch exports on the page.
NETWORK = '''```python
import numpy as np
import onnx

network = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
net (float[1,3,64,64] image) => (float[1,1,64,64] mask) <float[4] s = {1.0, 1.0, 2.0, 2.0}> {
  a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (image, w0, b0)
  r = Relu(a)
  u = Resize <mode = "linear"> (r, , s)
  c = Conv <pads = [1, 1, 1, 1]> (u, w1, b1)
  mask = Sigmoid(c)
}
""")
random = np.random.default_rng(0)
for name, shape in {"w0": (16, 3, 3, 3), "b0": (16,), "w1": (1, 16, 3, 3), "b1": (1,)}.items():
    array = random.uniform(-0.2, 0.2, shape).astype(np.float32)
    network.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
onnx.save(network, "segmenter.onnx")
```'''


@pytest.fixture
def phone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that stands for a phone's /data/local/tmp, with adb and an NDK in the way."""
    phone, tools = tmp_path / "phone", tmp_path / "tools"
    toolchain = tmp_path / "ndk" / "build" / "cmake" / "android.toolchain.cmake"
    for folder in (phone, tools, toolchain.parent):
        folder.mkdir(parents=True)
    toolchain.touch()
    (tools / "adb").write_text(ADB)
    (tools / "adb").chmod(0o755)
    (library,) = list(Path("/usr/lib").glob("*/libOpenCL.so"))[:1] or [Path()]
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PHONE", str(phone))
    monkeypatch.setenv("TEST_OPENCL", str(library))
    monkeypatch.setenv("ANDROID_NDK", str(tmp_path / "ndk"))
    monkeypatch.setenv("OPENCL_HEADERS", "/usr/include")
    yield phone
    if (phone / "pid").exists():
        os.kill(int((phone / "pid").read_text()), signal.SIGKILL)


@pytest.mark.skipif(not shutil.which("cmake"), reason="builds C programs: install cmake")
@pytest.mark.skipif(sys.platform != "linux", reason="a phone is a folder of Linux")
def test_from_model_to_phone(phone: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(pixels).save(work / "photo.png")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    replaced = {"9000": port, "--time 10m": "--trials 4"}
    if not find_spec("torch") or not find_spec("onnxscript"):
        (export,) = re.findall(r"```python\nimport torch\n.*?```", PAGE.read_text(), re.S)
        replaced[export] = NETWORK
    pages.follow(PAGE, work, replaced)
    assert {path.name for path in phone.iterdir()} >= {"segmenter_example", "weights.bin"}
    mask = np.load(work / "mask.npy")
    assert mask.shape == (1, 1, 64, 64)
    assert np.ptp(mask) > 0.01
    records = (work / "segmenter.tuning.jsonl").read_text().splitlines()
    assert len(records) >= 3
    assert not (phone / "log").read_text()
