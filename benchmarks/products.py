"""Matrix products on OpenCL CPUs beside OpenBLAS (numpy) and oneDNN or MLAS (onnxruntime).

`python benchmarks/products.py [names] [--device pocl] [--facts 'vector_width=16 ...'] [--rounds N]`
Each figure is CPU time relative to OpenBLAS's, the median of rounds in which all alternate in one
process, so that a busy neighbour slows all of them alike. OpenBLAS and onnxruntime run on one
thread, since threads that wait burn CPU time; products by clopt are timed from launch to
`clFinish`. The report goes to `benchmarks/results/products.{md,json}`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from alternating import Arrays, Rival, Rows, by_clopt, by_onnxruntime, measure, ratios, show, write
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console

RESULTS = Path(__file__).resolve().parent / "results" / "products"


@dataclass(frozen=True)
class Product:
    """A product of `a`, `batch` matrices of m x k, and `b`, matrices of k x n."""

    m: int
    k: int
    n: int
    batch: int = 1
    left: bool = False
    """Whether `a` is stored transposed."""
    right: bool = False
    """Whether `b` is stored transposed."""
    constant: bool = False
    """Whether `b` is known at compile time."""

    def arrays(self) -> Arrays:
        rng = np.random.default_rng(0)
        outer = (self.batch,) if self.batch > 1 else ()
        a = (self.k, self.m) if self.left else (self.m, self.k)
        b = (self.n, self.k) if self.right else (self.k, self.n)
        shapes = {"a": (*outer, *a), "b": (*outer, *b)}
        return {key: rng.standard_normal(s, dtype=np.float32) for key, s in shapes.items()}

    def model(self, arrays: Arrays) -> onnx.ModelProto:
        outer = [self.batch] if self.batch > 1 else []
        runtime = {k: v for k, v in arrays.items() if not (self.constant and k == "b")}
        nodes: list[onnx.NodeProto] = []
        if self.batch > 1:
            names = dict(a="a", b="b")
            for name, transposed in (("a", self.left), ("b", self.right)):
                if transposed:
                    names[name] = f"{name}_t"
                    node = helper.make_node("Transpose", [name], [f"{name}_t"], perm=[0, 2, 1])
                    nodes.append(node)
            nodes.append(helper.make_node("MatMul", [names["a"], names["b"]], ["y"]))
        else:
            sides = {"transA": int(self.left), "transB": int(self.right)}
            nodes.append(helper.make_node("Gemm", ["a", "b"], ["y"], **sides))
        graph = helper.make_graph(
            nodes,
            "product",
            [
                helper.make_tensor_value_info(k, TensorProto.FLOAT, v.shape)
                for k, v in runtime.items()
            ],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*outer, self.m, self.n])],
            [numpy_helper.from_array(arrays["b"], "b")] if self.constant else [],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _squares() -> Iterator[tuple[str, Product]]:
    for n in (512, 1024, 2048):
        yield f"{n}", Product(n, n, n)
        yield f"{n} A.Bt", Product(n, n, n, right=True)
        yield f"{n} At.B", Product(n, n, n, left=True)
        yield f"{n} constant B", Product(n, n, n, constant=True)


PRODUCTS: dict[str, Product] = dict(_squares()) | {
    "1 x 1024 x 1000 constant B": Product(1, 1024, 1000, constant=True),
    "1 x 1024 x 1024": Product(1, 1024, 1024),
    "1 x 1024 x 1024 A.Bt": Product(1, 1024, 1024, right=True),
    "8 x 1024 x 1024": Product(8, 1024, 1024),
    "8 x 1024 x 1024 A.Bt": Product(8, 1024, 1024, right=True),
    "1024 x 1024 x 8": Product(1024, 1024, 8),
    "12 x 197 x 64 x 197": Product(197, 64, 197, 12),
    "12 x 197 x 64 x 197 A.Bt": Product(197, 64, 197, 12, right=True),
    "12 x 197 x 197 x 64": Product(197, 197, 64, 12),
    "197 x 192 x 768 constant B": Product(197, 192, 768, constant=True),
    "128 x 768 x 3072 constant B": Product(128, 768, 3072, constant=True),
}


def by_openblas(product: Product, arrays: Arrays, expected: np.ndarray) -> Rival:
    """Return numpy's product, which calls OpenBLAS."""
    a = arrays["a"].swapaxes(-1, -2) if product.left else arrays["a"]
    b = arrays["b"].swapaxes(-1, -2) if product.right else arrays["b"]
    y = np.empty_like(expected)
    return Rival("OpenBLAS", lambda: np.matmul(a, b, out=y))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(PRODUCTS)}; default all")
    parser.add_argument("--device", action="append", help="default pocl and intel")
    parser.add_argument("--facts", action="append", help="facts that differ; may be repeated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="write the report")
    args = parser.parse_args()
    forms = [(d, f) for d in args.device or ("pocl", "intel") for f in args.facts or ("",)]
    console = Console(width=None if os.isatty(1) else 160)
    rows: Rows = {}
    for name in args.names or PRODUCTS:
        product = PRODUCTS[name]
        arrays = product.arrays()
        a = arrays["a"].swapaxes(-1, -2) if product.left else arrays["a"]
        b = arrays["b"].swapaxes(-1, -2) if product.right else arrays["b"]
        expected = a @ b
        model = product.model(arrays)
        inputs = {key: arrays[key] for key in ("a", "b") if key == "a" or not product.constant}
        rivals = [
            by_openblas(product, arrays, expected),
            by_onnxruntime(model, inputs, expected, threads=1),
            *(next(by_clopt(*form, model, inputs, expected)) for form in forms),
        ]
        samples = measure(rivals, args.rounds)
        found = ratios(samples)
        rows[name] = {r.name: value for r, value in zip(rivals[1:], found[1:], strict=True)}
        flops = 2e-9 * product.batch * product.m * product.k * product.n
        rows[name]["OpenBLAS GFLOP/s"] = flops / statistics.median(samples[0])
        line = "  ".join(f"{key} {value:.2f}" for key, value in rows[name].items())
        console.print(f"{name}: {line}", style="dim", highlight=False)
    show("product", rows, console)
    if args.write:
        about = "CPU time relative to OpenBLAS's on one thread; less is better."
        write(RESULTS, "Matrix products", about, "product (m x k x n)", rows)


if __name__ == "__main__":
    main()
