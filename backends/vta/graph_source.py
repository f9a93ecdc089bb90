"""The OpenCL C of a kernel that runs a graph: the core, and the tensors of its instructions."""

from __future__ import annotations

import re

from ...dialects.vta.config import Config
from .core import CoreForm, core_macros, core_source

GRAPH_KERNEL = "vta_graph"
"""The kernel of `graph_source`."""

TENSOR_SHIFT = 4
"""The bits of a hint below the tensor number, which hold a `schedule.Share`."""

_NAMES = re.compile(
    r"^#define (\w+)|^static [\w\s]+?(\w+)\(|^typedef \w+ (\w+);|^\} (\w+);",
    re.MULTILINE,
)
_ENUMERATORS = re.compile(r"^enum \{(.*)\};", re.MULTILINE)
_ATTRIBUTE = re.compile(r"__attribute__\(\(\w+\)\)")
_WORDS = re.compile(r"//.*|\b[A-Za-z_]\w*\b")
_PREFIX = "vta_"

_ENTRY = """\
// {title}
// `instructions` run in order. A hint has how the lanes share its instruction, and from bit {shift}
// on the number of the tensor that a LOAD or STORE of activations moves.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void {kernel}(__global const ulong2 *instructions, __global const uchar *hints,
              __global const char *uop, __global const char *wgt, __global const char *acc,
              {parameters}, __global char *scratch) {{
    const uint lane = get_local_id(0);
    drams dram;
    dram.uop = uop;
    dram.wgt = wgt;
    dram.acc = acc;
#if LOCAL_SCRATCHPADS
    __local uint4 near[SCRATCH_BYTES / 16];
    const scratchpads pads = scratchpads_at((__local char *)near);
#else
    const scratchpads pads = scratchpads_at(scratch);
#endif
    for (uint n = 0;; ++n) {{
        const uint hint = hints[n];
        if (hint & WAIT_BEFORE) WAIT();
        const ulong2 word = instructions[n];
        if (bits(word.x, 0, 3) == FINISH) break;
        switch (hint >> {shift}) {{
{cases}
        }}
        dram.inp = dram.acc8 = dram.out;
        execute(pads, dram, word, hint & {mask}, lane);
    }}
}}
"""


def graph_source(config: Config, form: CoreForm, tensors: int) -> str:
    """Return the kernel GRAPH_KERNEL for graphs with at most `tensors` tensors.

    All names begin with `vta`, so that the text can be appended to other kernels.
    """
    macros = core_macros(config, form)
    definitions = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    text = definitions + _core_functions() + _entry(config, tensors)
    names = {name: _prefixed(name) for name in _own_names(text)}
    return _WORDS.sub(lambda word: names.get(word.group(), word.group()), text)


def _core_functions() -> str:
    """Return the core without its kernel, which expects memories instead of tensors."""
    text = core_source()
    end = text.rindex("\n}\n", 0, text.index("__kernel")) + len("\n}\n")
    return text[:end] + "\n"


def _entry(config: Config, tensors: int) -> str:
    last = tensors - 1
    cases = [f"        case {n}: dram.out = tensor_{n}; break;" for n in range(last)]
    return _ENTRY.format(
        title=f"Runs a graph on a VTA core, {config.name}.",
        kernel=GRAPH_KERNEL,
        parameters=", ".join(f"__global char *tensor_{n}" for n in range(tensors)),
        shift=TENSOR_SHIFT,
        mask=(1 << TENSOR_SHIFT) - 1,
        cases="\n".join([*cases, f"        default: dram.out = tensor_{last};"]),
    )


def _own_names(text: str) -> set[str]:
    declared = _NAMES.finditer(_ATTRIBUTE.sub("", text))
    names = {name for match in declared for name in match.groups() if name}
    for match in _ENUMERATORS.finditer(text):
        names.update(re.findall(r"[A-Z]\w*", match[1]))
    return {name for name in names if not name.startswith(_PREFIX)}


def _prefixed(name: str) -> str:
    return (_PREFIX.upper() if name.isupper() else _PREFIX) + name
