"""Fills the figures in README.md and the pages from the files in `benchmarks/results`.

`python docs/figures.py`. A figure stands before a comment that names it,

    1,464<!-- = conformance.pass -->

and a table between two comments:

    <!-- table compare -->
    ...
    <!-- end -->

A test fails while a figure is out of date, and for a number with a unit that has no such comment.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = (ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(ROOT.glob("docs/**/*.md")))

FIGURE = re.compile(r"(?P<value>[^\s|(<>]*)(?P<comment><!-- = (?P<name>[\w.]+) -->)")
TABLE = re.compile(r"(?P<head><!-- table (?P<name>\w+) -->\n).*?(?P<end><!-- end -->)", re.S)

NETWORKS = {
    "mobilenet_v1": "MobileNetV1",
    "mobilenet_v2": "MobileNetV2",
    "mobilenet_v3_small": "MobileNetV3-small",
    "resnet18": "ResNet-18",
    "resnet50": "ResNet-50",
    "squeezenet1_1": "SqueezeNet 1.1",
    "efficientnet_lite0": "EfficientNet-lite0",
    "vit_tiny": "ViT, tiny",
    "text_encoder": "text encoder",
    "yolo": "YOLO-like",
    "unet": "U-Net",
}


COMPARED = ("clopt-pocl", "clopt-intel", "openvino", "iree", "tinygrad-pocl")

RIVALS = {
    "onnxruntime": "onnxruntime",
    "clopt-intel": "clopt on Intel's OpenCL",
    "clopt-pocl": "clopt on PoCL",
    "openvino": "OpenVINO",
    "iree": "IREE",
    "tinygrad-pocl": "tinygrad on PoCL",
}


def read(name: str) -> Any:
    """Return the content of a result file."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def megabytes(size: float) -> str:
    """Return bytes in MB of 10^6 bytes."""
    return f"{size / 1e6:.1f}"


def power(error: float) -> str:
    """Return an error as `1.5e-2`."""
    mantissa, exponent = f"{error:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def conformance() -> dict[str, str]:
    """Return the counts of ONNX's backend tests, which must be equal on both CPU runtimes."""
    cases = [
        {name: case["status"] for name, case in read(f"conformance-clopt-{device}").items()}
        for device in ("pocl", "intel")
    ]
    assert cases[0] == cases[1], "docs/results.md gives one figure for both runtimes"
    expanded = Counter(cases[0].values())
    count = Counter(status for name, status in cases[0].items() if "_expanded" not in name)
    return {
        "all": f"{count.total():,}",
        "pass": f"{count['pass']:,}",
        "random": f"{count['random']:,}",
        "closer": f"{count['closer']:,}",
        "unsupported": f"{count['unsupported']:,}",
        "wrong": f"{count['wrong'] + count['crash'] + count['hang']:,}",
        "all_expanded": f"{expanded.total():,}",
        "pass_expanded": f"{expanded['pass']:,}",
        "all_nvidia": f"{len(read('conformance-clopt-nvidia')):,}",
    }


def compare() -> dict[str, str]:
    """Compare the networks with their rivals."""
    errors = [
        row["error"]
        for rows in read("compare").values()
        for rival, row in rows.items()
        if rival.startswith("clopt")
    ]
    (rounds,) = re.findall(
        r"(\d+) shuffled rounds", (RESULTS / "compare.md").read_text(encoding="utf-8")
    )
    ratios = [rows["clopt-intel"]["x_ort"] for rows in read("compare").values()]
    faster = 1 / geometric_mean(ratios)
    return {"rounds": rounds, "error": power(max(errors)), "faster": f"{faster:.2f}"}


def compare_table() -> str:
    """Return each network's time, and each rival's time relative to onnxruntime."""
    lines = [
        "| network | onnxruntime, ms | clopt on PoCL | clopt on Intel's | OpenVINO | IREE "
        "| tinygrad on PoCL |",
        "|---|---|---|---|---|---|---|",
    ]
    ratios: list[list[float]] = []
    for name, rows in read("compare").items():
        reference = rows["onnxruntime"]["ms"]
        ratios.append([rows[rival]["x_ort"] for rival in COMPARED])
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios[-1])
        lines.append(f"| {NETWORKS[name]} | {reference:.1f} | {cells} |")
    means = (f"{geometric_mean(column):.2f}" for column in zip(*ratios, strict=True))
    lines.append(f"| geometric mean | | {' | '.join(means)} |")
    return "\n".join(lines)


def rivals_table() -> str:
    """Return the speed, errors and start of each rival over all networks."""
    rows = list(read("compare").values())
    lines = [
        "| | time, of onnxruntime's | largest error | first compilation, s |",
        "|---|---|---|---|",
    ]
    for rival, title in RIVALS.items():
        of_rival = [row[rival] for row in rows]
        time = geometric_mean(row["x_ort"] for row in of_rival)
        errors = [row["error"] for row in of_rival if "error" in row]
        error = power(max(errors)) if errors else "the reference"
        start = median(row["compile_s"] for row in of_rival)
        lines.append(f"| {title} | {time:.2f} | {error} | {start:.1f} |")
    return "\n".join(lines)


def batch8_table() -> str:
    """Return the speed over all networks with eight images at once."""
    rows = list(read("compare_batch8").values())
    lines = ["| | time, of onnxruntime's |", "|---|---|"]
    for rival, title in RIVALS.items():
        if rival in rows[0]:
            lines.append(f"| {title} | {geometric_mean(row[rival]['x_ort'] for row in rows):.2f} |")
    return "\n".join(lines)


def winograd_errors_table() -> str:
    """Return the error of each form of a 3x3 convolution by its channels."""
    rows = read("winograd_errors")
    head = ["channels", *next(iter(rows.values()))]
    cells = [head, ["---:"] * len(head)]
    cells += [[channels, *map(power, row.values())] for channels, row in rows.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def winograd_errors() -> dict[str, str]:
    """Return the largest error of the default form of a 3x3 convolution, and of the direct form."""
    rows = read("winograd_errors").values()
    return {
        "default": power(max(row["F(4,3)"] for row in rows)),
        "direct": power(max(row["direct"] for row in rows)),
    }


def memory() -> dict[str, str]:
    """Return the memory of intermediates; other compilers' values are only in the report."""
    rows = read("memory")
    ratio = max((row["peak"] + row["separate"]) / row["lower_bound"] for row in rows)
    (ours,) = (
        row["peak"] + row["separate"]
        for row in rows
        if (row["network"], row["target"]) == ("mobilenet_v2", "adreno-740")
    )
    report = (RESULTS / "memory.md").read_text(encoding="utf-8")
    headings = re.findall(r"^\| network \| least .*$", report, re.M)[0].split(" | ")
    (cells,) = re.findall(r"^\| mobilenet_v2 \| [\d.]+ \| [\d.]+ \(.*$", report, re.M)
    others = dict(zip(headings, cells.split(" | "), strict=True))
    return {
        "excess": f"{100 * (ratio - 1):.2g}",
        "mobilenet_v2": megabytes(ours),
        "mobilenet_v2.tvm": f"{float(others['TVM, OpenCL'].split()[0]):.1f}",
        "mobilenet_v2.tinygrad": f"{float(others['tinygrad, OpenCL'].split()[0]):.1f}",
    }


def texture_forms() -> dict[str, str]:
    """Return the total times of convolutions on an H200."""
    rows = read("texture_forms")
    sums = {
        form: f"{sum(row['times'][form] for row in rows) / 1e3:.2f}"
        for form in ("image", "packed", "plain")
    }
    return sums | {"count": str(len(rows))}


def clml_networks() -> dict[str, str]:
    """Return errors of networks in half, with CLML's reference library and with clopt's kernels."""
    errors = {
        (row["network"], row["mode"], row["precision"], row["device"]): row["error"]
        for row in read("clml_networks")
    }
    return {
        name: power(errors[key])
        for name, key in {
            "lite0.rounded": ("efficientnet_lite0", "rounded", "f16", "onnxruntime"),
            "lite0.prefer": ("efficientnet_lite0", "prefer", "f16", "intel"),
            "mobilenet_v2.storage": ("mobilenet_v2", "off", "f16-storage", "intel"),
            "mobilenet_v2.half": ("mobilenet_v2", "off", "f16", "intel"),
        }.items()
    }


def instances(name: str) -> dict[str, str]:
    """Return how many instances of a file fit their capacity, and the longest planning time."""
    rows = read(name)["rows"]
    return {
        "count": str(len(rows)),
        "within": str(sum(row["search"] <= 1 for row in rows)),
        "seconds": f"{max(row['search_seconds'] for row in rows):.1f}",
    }


SOURCES: Mapping[str, Callable[[], dict[str, str]]] = {
    "conformance": conformance,
    "compare": compare,
    "winograd_errors": winograd_errors,
    "memory": memory,
    "texture_forms": texture_forms,
    "clml_networks": clml_networks,
    "memory_instances": partial(instances, "memory_instances"),
    "minimalloc_instances": partial(instances, "minimalloc_instances"),
}
TABLES: Mapping[str, Callable[[], str]] = {
    "compare": compare_table,
    "rivals": rivals_table,
    "batch8": batch8_table,
    "winograd_errors": winograd_errors_table,
}


def figures() -> dict[str, str]:
    """Return every figure by name: the result file's name, a dot, and its own."""
    return {
        f"{source}.{name}": value
        for source, make in SOURCES.items()
        for name, value in make().items()
    }


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a page with updated figures and tables."""
    text = FIGURE.sub(lambda match: values[match["name"]] + match["comment"], text)
    return TABLE.sub(
        lambda match: f"{match['head']}{TABLES[match['name']]()}\n{match['end']}", text
    )


def main() -> None:
    values = figures()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = filled(text, values)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"updated {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
