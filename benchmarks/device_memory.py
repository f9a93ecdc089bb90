"""The bytes that devices allocate for a network, compared with its memory report.

`python benchmarks/device_memory.py mobilenet_v2 --device pocl --device intel --target adreno-740`:
compiles the network, runs it once and asks it for the bytes of its memory objects. The report goes
to `benchmarks/results/device_memory.md`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import models
from provenance import measured
from rich.console import Console
from rich.table import Table

import clopt

HERE = Path(__file__).resolve().parent
HEADINGS = ("network", "target", "runtime", "images", "arena, MB", "separate", "weights",
            "announced in all", "allocated in all")  # fmt: skip


def measure(name: str, target: str | None, device: str) -> list[str]:
    """Return a row with sizes in MB of 10^6 bytes; the sums include inputs and outputs."""
    path = models.export(name, 299 if name == "inception_v3" else 224)
    model = clopt.compile(path, target, device=device)
    model.run(models.sample_inputs(path))
    report, executable = model.memory, model.executable
    ports = report.inputs + report.outputs
    arena, separate = report.arena_bytes, report.separate_bytes
    if "of their own" in executable.image_views.values():
        arena = sum(executable.arena_bytes)
        separate = report.without_views - arena
    told = arena + separate + report.weights + ports
    sizes = (arena, separate, report.weights, told, executable.device_bytes + ports)
    ways = ", ".join(f"{kind} {way}" for kind, way in executable.image_views.items())
    label = target or "of the device"
    return [name, label, executable.device.platform, ways, *(f"{size / 1e6:.3f}" for size in sizes)]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="+", metavar="name")
    parser.add_argument("--device", action="append", required=True)
    parser.add_argument("--target", action="append", help="default: that of the device")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "device_memory.md")
    args = parser.parse_args()
    rows = [
        measure(name, target, device)
        for name in args.names
        for target in args.target or [None]
        for device in args.device
    ]
    table = Table(*HEADINGS)
    for row in rows:
        table.add_row(*row)
    Console(width=None if Console().is_terminal else 160).print(table)
    lines = [HEADINGS, ["---"] * 4 + ["---:"] * 5, *rows]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    title = "# Memory on devices: bytes announced and bytes allocated"
    args.output.write_text(f"{title}\n\n{measured()}\n\nMB are 10^6 bytes.\n\n{text}\n")


if __name__ == "__main__":
    main()
