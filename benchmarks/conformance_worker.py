"""Run conformance cases one after the other, in a process that may crash or hang."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import conformance_cases
import numpy as np
import onnx
from conformance_cases import Case
from onnx import numpy_helper

FLOATS = (np.dtype(np.float32), np.dtype(np.float16))

SMALL_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)

RANDOM = (
    *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"),
    *("RandomUniform", "RandomUniformLike"),
)
"""Operators that may draw other numbers in each implementation, even from one seed."""

Run = Callable[[onnx.ModelProto, Sequence[Sequence[Any]]], list[list[Any]]]

# Operands that determine the shape or kind of the result. Some rivals need their values before the
# run. If such an operand is an input of the model, the case runs a second time with the input bound
# as an initialiser, and a success is counted separately.
SHAPE_OPERANDS: dict[str, tuple[int, ...]] = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Clip": (1, 2),
    "Col2Im": (1, 2),
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "DFT": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "Loop": (0, 1),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "OneHot": (1, 2),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "ReduceMax": (1,),
    "ReduceMean": (1,),
    "ReduceMin": (1,),
    "ReduceProd": (1,),
    "ReduceSum": (1,),
    "ReduceSumSquare": (1,),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "SplitToSequence": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}


def feeds(model: onnx.ModelProto, inputs: Sequence[Any]) -> dict[str, Any]:
    """Return the inputs of a case by name; a model may list its initialisers as inputs too."""
    names = [value.name for value in model.graph.input]
    if len(names) > len(inputs):
        held = {tensor.name for tensor in model.graph.initializer}
        names = [name for name in names if name not in held]
    return dict(zip(names, inputs, strict=False))


def bind_shape_operands(model: onnx.ModelProto, inputs: Sequence[Any]) -> onnx.ModelProto | None:
    """Return a copy whose inputs that determine shapes are initialisers, or None without any."""
    arrays = feeds(model, inputs)
    bound = {
        node.input[i]
        for node in model.graph.node
        for i in SHAPE_OPERANDS.get(node.op_type, ())
        if i < len(node.input) and isinstance(arrays.get(node.input[i]), np.ndarray)
    }
    if not bound:
        return None
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    kept = [value for value in copy.graph.input if value.name not in bound]
    del copy.graph.input[:]
    copy.graph.input.extend(kept)
    for name in sorted(bound):
        copy.graph.initializer.append(numpy_helper.from_array(arrays[name], name))
    return copy


def clopt_runner(
    device: str, *, strict_half: bool = False
) -> tuple[Run, tuple[type[Exception], ...]]:
    """Compile for an OpenCL device and run every data set on it, without any preparation."""
    import clopt

    def run(model: onnx.ModelProto, sets: Sequence[Sequence[Any]]) -> list[list[Any]]:
        compiled = clopt.compile(model, device=device, strict_half=strict_half)
        return [list(compiled.run(feeds(model, inputs))) for inputs in sets]

    return run, (clopt.CloptError,)


def tinygrad_runner(device: str) -> tuple[Run, tuple[type[Exception], ...]]:
    """tinygrad's ONNX frontend; the parent process has set DEV and the OpenCL vendor."""
    from tinygrad.nn.onnx import OnnxRunner
    from tinygrad.tensor import Tensor

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) for item in value]
        return value.numpy() if isinstance(value, Tensor) else np.asarray(value)

    def run(model: onnx.ModelProto, sets: Sequence[Sequence[Any]]) -> list[list[Any]]:
        runner = OnnxRunner(Tensor(model.SerializeToString(), device="PYTHON"))
        return [[plain(y) for y in runner(feeds(model, x)).values()] for x in sets]

    return run, (NotImplementedError,)


def onnxruntime_runner(device: str) -> tuple[Run, tuple[type[Exception], ...]]:
    """Return onnxruntime on the CPU, which accepts the newest IR and opsets."""
    import onnxruntime
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Refused

    onnxruntime.set_default_logger_severity(4)

    def run(model: onnx.ModelProto, sets: Sequence[Sequence[Any]]) -> list[list[Any]]:
        model.ir_version = min(model.ir_version, 13)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        return [list(session.run(None, feeds(model, inputs))) for inputs in sets]

    return run, (Refused,)


RUNNERS = {
    "clopt": clopt_runner,
    "clopt-strict-half": partial(clopt_runner, strict_half=True),
    "tinygrad": tinygrad_runner,
    "onnxruntime": onnxruntime_runner,
}


def mismatch(got: Any, expected: Any, rtol: float, atol: float) -> str | None:
    """Return why an output differs from the expected one, or None; types and shapes must match."""
    if isinstance(expected, list) or isinstance(got, list):
        if not (isinstance(expected, list) and isinstance(got, list)) or len(got) != len(expected):
            return "a sequence of another length"
        parts = (mismatch(g, e, rtol, atol) for g, e in zip(got, expected, strict=True))
        return next((part for part in parts if part), None)
    if expected is None or got is None:
        return None if got is expected else "an optional output differs"
    if not isinstance(got, np.ndarray):
        return f"a {type(got).__name__} instead of an array"
    if got.shape != expected.shape:
        return f"shape {got.shape} instead of {expected.shape}"
    if expected.dtype.kind in "OUS":
        return None if np.array_equal(got.astype(str), expected.astype(str)) else "other strings"
    if got.dtype != expected.dtype:
        return f"type {got.dtype} instead of {expected.dtype}"
    if got.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)
    if got.dtype.kind == "V" or got.dtype.name == "bfloat16":
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    if np.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True):
        return None
    bad = ~np.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    values = f"{got[where]} for {expected[where]}"
    return f"{int(bad.sum())} of {bad.size} differ, first at {where}: {values}"


def _widen(node: onnx.NodeProto) -> None:
    """Replace smaller floats by float64 in the attributes of a cast or a constant."""
    for attribute in node.attribute:
        if node.op_type == "Cast" and attribute.name == "to" and attribute.i in SMALL_FLOATS:
            attribute.i = onnx.TensorProto.DOUBLE
        elif node.op_type == "Constant" and attribute.name == "value_float":
            value = numpy_helper.from_array(np.array(attribute.f, np.float64))
            attribute.CopyFrom(onnx.helper.make_attribute("value", value))
        elif attribute.HasField("t") and attribute.t.data_type in SMALL_FLOATS:
            wide = numpy_helper.to_array(attribute.t).astype(np.float64)
            attribute.t.CopyFrom(numpy_helper.from_array(wide))


def in_float64(case: Case, inputs: Sequence[Any]) -> list[Any] | None:
    """Evaluate by ONNX's reference with float64 in place of every smaller float."""
    from onnx.reference import ReferenceEvaluator

    model = onnx.load_from_string(case.model)
    for value in (*model.graph.input, *model.graph.output):
        kind = value.type.tensor_type
        if kind.elem_type in SMALL_FLOATS:
            kind.elem_type = onnx.TensorProto.DOUBLE
    for node in model.graph.node:
        _widen(node)
    wide = [x.astype(np.float64) if getattr(x, "dtype", None) in FLOATS else x for x in inputs]
    try:
        with np.errstate(all="ignore"):
            return list(ReferenceEvaluator(model).run(None, feeds(model, wide)))
    except Exception:  # the evaluator does not have every operator in every type
        return None


def is_closer(case: Case, inputs: Sequence[Any], got: list[Any], expected: Sequence[Any]) -> bool:
    """Return whether every element outside the tolerance is closer to float64 than expected."""
    exact = in_float64(case, inputs)
    if exact is None or len(exact) != len(got):
        return False
    for g, e, x in zip(got, expected, exact, strict=True):
        same = isinstance(g, np.ndarray) and g.dtype == e.dtype and g.shape == e.shape
        if not same or mismatch(g, e, case.rtol, case.atol) is None:
            if same:
                continue
            return False
        if g.dtype not in FLOATS or np.shape(x) != g.shape:
            return False
        bad = ~np.isclose(g, e, rtol=case.rtol, atol=case.atol, equal_nan=True)
        if not (np.abs(g - x)[bad] <= np.abs(e - x)[bad]).all():
            return False
    return True


def have_one_form(got: Any, expected: Any) -> bool:
    """Return whether two arrays have one type and shape."""
    return (
        isinstance(got, np.ndarray) and got.dtype == expected.dtype and got.shape == expected.shape
    )


def attempt(
    run: Run, model: onnx.ModelProto, case: Case, refused: tuple[type[Exception], ...]
) -> tuple[str, str]:
    """Return the status and message of one model against the data of a case."""
    try:
        results = run(model, [inputs for inputs, _ in case.data])
    except refused as error:
        return "unsupported", f"{error}"
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    closer = ""
    draws = any(node.op_type in RANDOM for node in model.graph.node)
    drawn = ""
    for got, (inputs, expected) in zip(results, case.data, strict=True):
        if len(got) != len(expected):
            return "wrong", f"{len(got)} outputs instead of {len(expected)}"
        for index, (g, e) in enumerate(zip(got, expected, strict=True)):
            reason = mismatch(g, e, case.rtol, case.atol)
            if reason and draws and have_one_form(g, e):
                drawn = drawn or reason
                continue
            if reason and not is_closer(case, inputs, got, expected):
                return "wrong", f"output {index}: {reason}"
            closer = closer or reason or ""
    if drawn:
        return "random", drawn
    return ("closer", closer) if closer else ("pass", "")


def check(
    run: Run, case: Case, refused: tuple[type[Exception], ...], binds: bool = True
) -> tuple[str, str]:
    """Return the status of a case; if refused, try it with bound shape operands if `binds`."""
    model = onnx.load_from_string(case.model)
    status, message = attempt(run, model, case, refused)
    if status == "unsupported" and binds:
        bound = bind_shape_operands(model, case.data[0][0])
        if bound is not None:
            again, reason = attempt(run, bound, case, refused)
            if again != "unsupported":
                return ("pass-bound" if again == "pass" else again), reason
    return status, message


def work(connection: Connection, rival: str, device: str, cache: Path) -> None:
    """Serve cases: read a path, answer with (status, message, seconds).

    PoCL's kernel cache is private to the worker, because processes may load files that others are
    still writing.
    """
    os.environ["POCL_CACHE_DIR"] = str(cache)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    run, refused = RUNNERS[rival](device)
    connection.send("ready")
    while True:
        path: Path | None = connection.recv()
        if path is None:
            return
        case = conformance_cases.load(path)
        start = time.perf_counter()
        status, message = check(run, case, refused, binds=not rival.startswith("clopt"))
        message = re.sub(r"\s+", " ", message)[:200]
        connection.send((status, message, time.perf_counter() - start))
