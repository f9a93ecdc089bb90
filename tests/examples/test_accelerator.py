"""The accelerator of docs/extend/add-an-accelerator.md, built from the page alone."""

from __future__ import annotations

import re
from pathlib import Path

from support import packages

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "add-an-accelerator.md"

# What the page says beside its example. Each name is one of `use.py`.
CHECKS = """
import sys
from pathlib import Path

from clopt.backends.pyopencl_runtime import CExecutable

expected = np.maximum(x @ v, 0) @ w

def check(executable):
    (y,) = executable.run([x])
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)

text = str(model.module)
assert text.count("cl.enqueue_offload @toy_") == 2, text
assert model.memory.graph_weights == v.nbytes + w.nbytes
model.save(sys.argv[1])
loaded = clopt.load(sys.argv[1], device=0)
assert loaded.source == model.source
check(loaded)
check(CExecutable(model.module, model.weights, 0))
fast, slow = (
    clopt.compile(network, device=0, toy="auto", toy_mads_per_nanosecond=rate, explain=True)
    for rate in (1e6, 1e-6)
)
check(fast)
assert (fast.plan, slow.plan) == ("Toy", "kernels")
far = clopt.compile(
    network, device=0, toy="auto", toy_mads_per_nanosecond=1e6, toy_entry_microseconds=1e6
)
assert far.plan == "kernels"
try:
    clopt.compile(network, device=0, toy="always")
except clopt.CloptError as error:
    print(error)
"""


def test_an_accelerator_out_of_tree(tmp_path: Path):
    package = packages.install(PAGE, tmp_path)
    script = package / "use.py"
    script.write_text(script.read_text() + CHECKS)
    printed = packages.run_script(package, "use.py", package / "saved")
    (shown,) = re.findall(r"prints `(.*?)`", PAGE.read_text(encoding="utf-8"))
    assert printed.startswith(f'{shown}\ntoy must be "off" or "auto" or "prefer", not "always".\n')
    assert re.search(r"toy_0 .*toy\.product", printed)
    assert "the toy multiplies matrices only" in printed
