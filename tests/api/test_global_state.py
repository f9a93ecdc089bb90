"""Importing clopt, compiling and running change nothing that all code of a process shares."""

from __future__ import annotations

import sys
from pathlib import Path

from support import processes

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"

# In a process of its own, which has not imported clopt. Another thread compiles while the first one
# watches.
SCRIPT = """
import gc, pickle, sys, threading
import numpy as np, xdsl.parser
sys.path.append({tests!r})
from support import process_state

def state():
    return process_state.state(thorough=True) | {{"frozen": gc.get_freeze_count()}}

def told(step):
    for change in process_state.changes(before, state()):
        print(step, change)

before = state()
import clopt
told("import")
clopt.list_devices()
told("list")
image = np.zeros((1, 1, 8, 8), np.float32)
model = None

def work():
    global model
    model = clopt.compile({model!r}, device={device}, dims={{"batch": 1}})
    model.run([image])
    model.save({folder!r})
    clopt.load({folder!r}, device={device}).profile([image], runs=1)
    pickle.loads(pickle.dumps(model)).run([image])
    clopt.run_pipeline("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> "
        "{{ func.return %x : tensor<4xf32> }}", "opencl")

calm = process_state.state()
thread = threading.Thread(target=work)
thread.start()
while thread.is_alive():
    thread.join(0.01)
    for change in process_state.changes(calm, process_state.state()):
        print("meanwhile", change)
del thread
told("work")
assert model is not None, "the thread has failed"
"""


def test_nothing_global_changes(device: str, tmp_path: Path) -> None:
    values = {"tests": str(Path(__file__).parents[1]), "model": str(DIGITS), "device": device}
    script = SCRIPT.format(**values, folder=str(tmp_path / "saved"))
    done = processes.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
