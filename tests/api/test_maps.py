"""Models that take or return dictionaries, as scikit-learn's exports do, against onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import clopt
from clopt.backends.launches import ports_as_json, ports_of_json

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

RNG = np.random.default_rng(0)
WEIGHTS = ", ".join(f"{each:.3f}" for each in RNG.standard_normal(12))
KEYS = {
    "integers": ("int64", "classlabels_int64s=[7, -2, 40]"),
    "texts": ("string", 'classlabels_strings=["no", "maybe", "ja"]'),
}


def graph(signature: str, body: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 9, opset_import: ["": 18, "ai.onnx.ml": 3]> g {signature} {{ {body} }}'
    )


def classifier(
    keys: str, rows: str = "n", rest: str = "maps = Identity (zipped)"
) -> onnx.ModelProto:
    """A classifier with the outputs that scikit-learn's exports have."""
    kind, labels = KEYS[keys]
    return graph(
        f"(float[{rows},4] x) => (int64[{rows}] label, seq(map({kind}, float)) maps)",
        f"""
        label, scores = ai.onnx.ml.LinearClassifier <
            classlabels_ints=[7, -2, 40], coefficients=[{WEIGHTS}], intercepts=[0.1, 0.2, 0.3],
            post_transform="SOFTMAX"
        > (x)
        maps = ai.onnx.ml.ZipMap <{labels}> (scores)
        """,
    )


def by_onnxruntime(model: onnx.ModelProto, inputs: dict[str, object]) -> list[object]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return list(session.run(None, inputs))


@pytest.mark.by_default(cases=2)
@pytest.mark.parametrize("rows", ["n", "3", ""])
@pytest.mark.parametrize("keys", KEYS)
def test_scores_are_a_dictionary_for_each_row(keys: str, rows: str, device: str) -> None:
    model = classifier(keys, rows or "n")
    if not rows:
        model.graph.input[0].type.tensor_type.shape.dim[0].Clear()
    compiled = clopt.compile(model, device=device)
    for size in (3,) if rows == "3" else (3, 8, 1, 0):
        x = RNG.standard_normal((size, 4), np.float32)
        label, maps = compiled.run({"x": x})
        if size:
            wanted, wanted_maps = by_onnxruntime(model, {"x": x})
            np.testing.assert_array_equal(label, wanted)
            assert [*map(list, maps)] == [*map(list, wanted_maps)]
            assert all(g == pytest.approx(w) for g, w in zip(maps, wanted_maps, strict=True))
        assert (len(label), len(maps)) == (size, size)
        assert all(type(value) is float for each in maps for value in each.values())


def test_a_vector_of_scores_is_one_dictionary(device: str) -> None:
    model = graph(
        "(float[3] x) => (seq(map(int64, float)) maps)",
        "y = Neg (x) maps = ai.onnx.ml.ZipMap <classlabels_int64s=[0, 1, 2]> (y)",
    )
    x = np.float32([1, 2, 3])
    (maps,) = clopt.compile(model, device=device).run([x])
    assert [maps] == by_onnxruntime(model, {"x": x})


VOCABULARIES = {
    "string, float": (["b", "a", "ü"], [{"a": 1.5, "b": 2.0}, {"ü": -1.0, "z": 4.0}]),
    "string, int64": (["b", "a"], [{"a": 1 << 40}, {"b": -3, "a": 2}]),
    "int64, float": ([5, -3], [{-3: 0.5}, {5: 2.5, -3: 1.0}, {6: 1.0}]),
    "int64, double": ([5, -3], [{-3: 0.1}]),
}


@pytest.mark.parametrize("kind", VOCABULARIES)
@pytest.mark.by_default(cases=1)
def test_a_dictionary_becomes_a_row(kind: str, device: str) -> None:
    keys, maps = VOCABULARIES[kind]
    key, _, element = kind.partition(", ")
    model = graph(
        f"(map({kind}) d) => ({element}[1,m] y)",
        f"v = ai.onnx.ml.DictVectorizer <{key}_vocabulary={json.dumps(keys, ensure_ascii=False)}>"
        " (d) y = Identity (v)",
    )
    compiled = clopt.compile(model, device=device)
    for each in maps:
        (row,) = compiled.run({"d": each})
        assert row.tolist() == [[each.get(key, 0) for key in keys]]
        if element == "float":  # of other types, onnxruntime takes no dictionaries
            (wanted,) = by_onnxruntime(model, {"d": each})
            np.testing.assert_array_equal(row, wanted, strict=True)


@pytest.mark.parametrize(("to", "dtype"), [("FLOAT", np.float32), ("INT64", np.int64)])
def test_a_sparse_map_has_a_column_for_each_number(
    to: str, dtype: type[np.generic], device: str
) -> None:
    element = np.dtype(dtype).name.removesuffix("32")
    model = graph(
        f"(map(int64, float) d) => ({element}[1,5] y)",
        f'y = ai.onnx.ml.CastMap <cast_to="TO_{to}", map_form="SPARSE", max_map=5> (d)',
    )
    d = {3: 2.5, 0: -1.0}
    (row,) = clopt.compile(model, device=device).run({"d": d})
    (wanted,) = by_onnxruntime(model, {"d": d})
    assert row.dtype == dtype
    np.testing.assert_array_equal(row, wanted)


def test_programs_take_and_return_tensors(tmp_path: Path, device: str) -> None:
    model = clopt.compile(classifier("texts", "3"), device=device)
    assert isinstance(model, clopt.SequenceModel)
    assert str(model.outputs[1]) == "maps: sequence of maps from 3 keys to float32"
    assert model.outputs[1].keys == ("no", "maybe", "ja")
    x = RNG.standard_normal((3, 4), np.float32)
    (maps,) = model.run({"x": x}, ["maps"])
    (scores,) = model.for_inputs({"x": x}).run([x], ["maps"])
    assert scores.shape == (3, 3)
    assert [[each[key] for key in model.outputs[1].keys] for each in maps] == scores.tolist()
    model.save(tmp_path)
    (again,) = clopt.load(tmp_path, device=device).run([x], ["maps"])
    np.testing.assert_array_equal(again, scores)
    with pytest.raises(clopt.CloptError, match='The output "maps" is a list'):
        model.run({"x": x}, {"maps": np.zeros((3, 3), np.float32)})


def test_the_cache_keeps_the_keys() -> None:
    ports = clopt.compile(classifier("integers"), "pocl").outputs
    rows = json.loads(json.dumps(ports_as_json(ports)))
    assert ports_of_json(rows) == tuple(ports)


WRONG = {
    "no dictionary": ([1.0], 'The input "d" is a map, so it takes a dictionary, not list'),
    "a number": ({1: 2.0}, 'The keys of the input "d" are texts, not int'),
    "no number": ({"a": "b"}, 'The values of the input "d" must be numbers'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_dictionaries_are_one_sentence(name: str, device: str) -> None:
    value, message = WRONG[name]
    model = graph(
        "(map(string, float) d) => (float[1,2] y)",
        'y = ai.onnx.ml.DictVectorizer <string_vocabulary=["a", "b"]> (d)',
    )
    with pytest.raises(clopt.CloptError, match=message):
        clopt.compile(model, device=device).run({"d": value})


REFUSED = {
    "columns": (
        "(float[2,3] x) => (seq(map(int64, float)) y)",
        "y = ai.onnx.ml.ZipMap <classlabels_int64s=[0, 1]> (x)",
        r"has 2 keys for values of the shape \[2, 3\]",
    ),
    "dense": (
        "(map(int64, float) d) => (float[1,m] y)",
        "y = ai.onnx.ml.CastMap (d)",
        "the input 'd' has",
    ),
    "two vocabularies": (
        "(map(string, float) d) => (float[1,1] y, float[1,1] z)",
        """
        y = ai.onnx.ml.DictVectorizer <string_vocabulary=["a"]> (d)
        z = ai.onnx.ml.DictVectorizer <string_vocabulary=["b"]> (d)
        """,
        "the input 'd' has",
    ),
    "texts": (
        "(map(int64, string) d) => (string[1,1] y)",
        "y = ai.onnx.ml.DictVectorizer <int64_vocabulary=[1]> (d)",
        "has the element type string",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_maps_are_refused_with_a_sentence(name: str) -> None:
    signature, body, message = REFUSED[name]
    with pytest.raises(clopt.CloptError, match=message):
        clopt.compile(graph(signature, body), "pocl")
