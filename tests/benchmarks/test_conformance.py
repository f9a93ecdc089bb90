"""The judge of ONNX's backend tests is strict where it must be and names what it excuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import onnx
import pytest
from conformance_cases import Case
from conformance_worker import bind_shape_operands, check, feeds, mismatch
from onnx import TensorProto, helper
from onnx_conformance import by_operator, markdown, regressions


class Refused(Exception):
    """A compiler raises this for a case that it cannot compile."""


def _model(kind: str, *inputs: onnx.ValueInfoProto, **attributes: Any) -> onnx.ModelProto:
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node(kind, [value.name for value in inputs], ["y"], **attributes)
    return helper.make_model(helper.make_graph([node], "case", list(inputs), [output]))


def _float(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _case(model: onnx.ModelProto, inputs: list[Any], outputs: list[Any]) -> Case:
    return Case("test", "node", "Op", model.SerializeToString(), [(inputs, outputs)], 1e-3, 1e-7)


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (np.ones(3, np.float32), None),
        (np.full(3, 1.0005, np.float32), None),
        (np.full(3, 1.01, np.float32), "3 of 3 differ"),
        (np.array([1, 1, np.nan], np.float32), "1 of 3 differ"),
        (np.ones(3, np.float64), "type float64"),
        (np.ones((3, 1), np.float32), "shape (3, 1)"),
        ([np.ones(3, np.float32)], "sequence"),
        (1.0, "float instead of an array"),
    ],
)
def test_mismatch(got: Any, reason: str | None) -> None:
    found = mismatch(got, np.ones(3, np.float32), 1e-3, 1e-7)
    assert found is None if reason is None else reason in str(found)


def test_equal_nans_and_strings_match() -> None:
    nan = np.array([np.nan, np.inf], np.float32)
    assert mismatch(nan, nan.copy(), 1e-3, 1e-7) is None
    assert mismatch(np.array(["a"], object), np.array(["a"]), 0, 0) is None
    assert mismatch(np.array(["a"], object), np.array(["b"]), 0, 0) == "other strings"


def test_statuses() -> None:
    x = np.array([1, 4], np.float32)
    case = _case(_model("Sqrt", _float("x", 2)), [x], [np.sqrt(x)])

    def answer(value: np.ndarray) -> Any:
        return lambda model, sets: [[value] for _ in sets]

    def refuse(model: onnx.ModelProto, sets: Any) -> Any:
        raise Refused("no square roots")

    def fail(model: onnx.ModelProto, sets: Any) -> Any:
        raise ValueError("oops")

    assert check(answer(np.sqrt(x)), case, (Refused,)) == ("pass", "")
    assert check(answer(x), case, (Refused,))[0] == "wrong"
    assert check(refuse, case, (Refused,)) == ("unsupported", "no square roots")
    assert check(fail, case, (Refused,)) == ("error", "ValueError: oops")


def test_closer_needs_float64_on_its_side() -> None:
    x = np.array([1, 4], np.float32)
    stored = np.array([1, 2.1], np.float32)
    case = _case(_model("Sqrt", _float("x", 2)), [x], [stored])
    exact = check(lambda model, sets: [[np.sqrt(x)]], case, ())
    assert exact[0] == "closer"
    assert "2.0" in exact[1]
    assert check(lambda model, sets: [[stored + np.float32(0.1)]], case, ())[0] == "wrong"


def test_random_numbers_need_only_type_and_shape() -> None:
    x = np.array([0.5, 0.5], np.float32)
    case = _case(_model("Bernoulli", _float("x", 2)), [x], [np.array([0, 1], np.float32)])

    def answer(value: np.ndarray) -> str:
        return check(lambda model, sets: [[value]], case, ())[0]

    assert answer(np.array([0, 1], np.float32)) == "pass"
    assert answer(np.array([1, 1], np.float32)) == "random"
    assert answer(np.array([1, 1], np.float64)) == "wrong"
    assert answer(np.array([1], np.float32)) == "wrong"


def test_float64_replaces_the_types_of_casts() -> None:
    x = np.array([1, 2.01], np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
            helper.make_node("Cast", ["h"], ["f"], to=TensorProto.FLOAT),
            helper.make_node("Constant", [], ["c"], value_float=1.0),
            helper.make_node("Mul", ["f", "c"], ["y"]),
        ],
        "g",
        [_float("x", 2)],
        [_float("y", 2)],
    )
    stored = x.astype(np.float16).astype(np.float32)
    case = _case(helper.make_model(graph), [x], [stored])
    case = dataclasses.replace(case, rtol=1e-5)
    assert check(lambda model, sets: [[x]], case, ())[0] == "closer"


def test_shape_operands_are_bound_only_on_refusal() -> None:
    shape = helper.make_tensor_value_info("shape", TensorProto.INT64, [1])
    x, target = np.ones((2, 3), np.float32), np.array([6], np.int64)
    case = _case(_model("Reshape", _float("x", 2, 3), shape), [x, target], [x.reshape(6)])

    def static(model: onnx.ModelProto, sets: Any) -> list[list[Any]]:
        if not model.graph.initializer:
            raise Refused
        assert list(feeds(model, sets[0])) == ["x"]
        return [[x.reshape(6)]]

    assert check(static, case, (Refused,))[0] == "pass-bound"
    assert check(static, case, (Refused,), binds=False)[0] == "unsupported"
    assert bind_shape_operands(_model("Sqrt", _float("x", 2)), [x]) is None


def test_report_and_regressions() -> None:
    def result(status: str) -> dict[str, Any]:
        return {"operator": "Conv", "status": status, "message": "a|b", "seconds": 0.1}

    before = {"a": result("pass"), "b": result("unsupported"), "c": result("wrong")}
    now = {"a": result("unsupported"), "b": result("wrong"), "c": result("wrong")}
    assert by_operator(now)["Conv"] == {"unsupported": 1, "wrong": 2}
    assert [line.split(":")[0] for line in regressions(now, before)] == ["a", "b"]
    text = markdown(now, "title")
    assert "| Conv |" in text
    assert "- `b` **wrong**: a\\|b" in text
