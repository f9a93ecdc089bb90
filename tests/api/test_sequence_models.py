"""Models that take or return lists of arrays, and optionals, against other evaluators of ONNX."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import clopt
from support.onnx.models import by_onnxruntime

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


def graph(signature: str, body: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 9, opset_import: ["": 18]> g {signature} {{ {body} }}'
    )


def assert_same(got: Any, wanted: Any) -> None:
    """Fail unless two outputs are the same lists of arrays, arrays, or None."""
    if isinstance(wanted, np.ndarray | np.generic):
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        return np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    if wanted is None:
        return None if got is None else pytest.fail(f"{got} is present")
    assert isinstance(got, list)
    for each, other in zip(got, wanted, strict=True):
        assert_same(each, other)


SCALED = graph(
    "(seq(float[n,3]) s, float[3] z) => (seq(float[n,3]) t, float[3] w)",
    """
        t = SequenceMap (s, z) <body = b (float[n,3] a, float[3] c) => (float[n,3] d) {
            d = Mul (a, c)
        }>
        w = Relu (z)
    """,
)
INSERTED = graph(
    "(seq(float[]) s, float[2] x, int64 at) => (seq(float[]) t, int64 n)",
    "t = SequenceInsert (s, x, at) n = SequenceLength (t)",
)
CHOSEN = graph(
    "(optional(float[2,m]) o, float[2,2] x) => (float[2,k] y, bool has, optional(float[2,m]) p)",
    """
        has = OptionalHasElement (o)
        y = If (has) <
            then_branch = t () => (float[2,k] a) { e = OptionalGetElement (o)  a = Neg (e) },
            else_branch = f () => (float[2,k] b) { b = Exp (x) }
        >
        p = Identity (o)
    """,
)
SUMMED = graph(
    "(optional(seq(float[2])) o, float[2] x) => (float[2] y, optional(seq(float[2])) p)",
    """
        has = OptionalHasElement (o)
        y = If (has) <
            then_branch = t () => (float[2] a) {
                s = OptionalGetElement (o)
                all = ConcatFromSequence<axis=0, new_axis=1> (s)
                a = ReduceMax<keepdims=0> (all, zero)
            },
            else_branch = f () => (float[2] b) { b = Neg (x) }
        >
        p = Identity (o)
    """,
)
SUMMED.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "zero"))


@pytest.mark.by_default(cases=1)
def test_lists_of_several_lengths_in_any_order(device: str):
    compiled = clopt.compile(SCALED, device=device)
    assert isinstance(compiled, clopt.SequenceModel)
    assert str(compiled.inputs[0]) == "s: sequence of nx3 float32"
    for sizes in ((2, 5), (4,), (1, 1, 7), (2, 5), ()):
        feeds = {"s": [floats(n, 3) for n in sizes], "z": floats(3)}
        # onnxruntime cannot be given a sequence without elements.
        wanted = by_onnxruntime(SCALED, feeds) if sizes else [[], np.maximum(feeds["z"], 0)]
        assert_same(compiled.run(feeds), wanted)
    assert repr(compiled).endswith("4 programs so far)")


def test_memory_for_stated_lengths_of_ranges_of_sizes():
    """Two elements of at most 4 x 3 floats, a vector of 3, and the results."""
    compiled = clopt.compile(SCALED, "pocl", dims={"s": 2, "n": (1, 4)})
    assert compiled.memory.inputs == compiled.memory.outputs == (2 * 4 * 3 + 3) * 4


def test_elements_of_any_rank_at_positions_that_are_inputs(devices: dict[str, str]):
    for device in devices.values():
        compiled = clopt.compile(INSERTED, device=device)
        for shapes, at in (([(4,), (1, 3)], 0), ([(4,), (1, 3)], -1), ([()], 1)):
            feeds = {"s": [floats(*shape) for shape in shapes], "x": floats(2), "at": np.array(at)}
            assert_same(compiled.run(feeds), by_onnxruntime(INSERTED, feeds))


@pytest.mark.parametrize("value", [None, (2, 3), (2, 1)], ids=str)
def test_an_optional_tensor(value: tuple[int, ...] | None, device: str):
    feeds: dict[str, Any] = {"o": None if value is None else floats(*value), "x": floats(2, 2)}
    assert_same(clopt.compile(CHOSEN, device=device).run(feeds), by_onnxruntime(CHOSEN, feeds))


def test_an_optional_sequence(device: str):
    compiled = clopt.compile(SUMMED, device=device)
    for count in (None, 3, 1, None):
        given = None if count is None else [floats(2) for _ in range(count)]
        feeds: dict[str, Any] = {"o": given, "x": floats(2)}
        assert_same(compiled.run(feeds), by_onnxruntime(SUMMED, feeds))


def test_a_value_decides_the_length_of_an_output(device: str):
    proto = graph(
        "(float[6,2] x, int64 k) => (seq(float[]) s)", "s = SplitToSequence<axis=0>(x, k)"
    )
    compiled = clopt.compile(proto, device=device)
    x = floats(6, 2)
    for k in (2, 4, 6):
        feeds = {"x": x, "k": np.array(k)}
        assert_same(compiled.run(feeds)[0], by_onnxruntime(proto, feeds)[0])


def test_open_sizes_beside_lists_are_rounded_up(device: str):
    proto = graph(
        "(float[n,4] x, seq(float[n,4]) a) => (seq(float[n,1]) s)",
        """
            first = SequenceAt (a, zero)
            sum = Add (x, first)
            y = Softmax (sum)
            s = SplitToSequence<axis=1> (y)
        """,
    )
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0), "zero"))
    compiled = clopt.compile(proto, device=device)
    for n in (3, 5, 4, 6, 7):
        feeds = {"x": floats(n, 4), "a": [floats(n, 4)]}
        assert_same(compiled.run(feeds)[0], by_onnxruntime(proto, feeds)[0])


def test_elements_whose_number_only_the_device_knows(device: str):
    proto = graph(
        "(seq(float[9]) s) => (seq(float[n]) t)",
        """
        t = SequenceMap (s) <body = b (float[9] a) => (int64[1,k] d) { d = NonZero (a) }>
    """,
    )
    values = [np.array([0, 1, 1] * 3, np.float32), np.zeros(9, np.float32)]
    (found,) = clopt.compile(proto, device=device).run([values])
    assert_same(found, [np.array(np.nonzero(value)) for value in values])


def test_outputs_by_name_and_into_arrays(device: str):
    compiled = clopt.compile(SCALED, device=device)
    s, z, w = [floats(2, 3), floats(1, 3)], floats(3), np.zeros(3, np.float32)
    again, (first, second) = compiled.run([s, z], ["w", "t"])
    assert_same(again, np.maximum(z, 0))
    assert_same([first, second], [each * z for each in s])
    (filled,) = compiled.run([s, z], {"w": w})
    assert filled is w
    assert_same(w, np.maximum(z, 0))
    with pytest.raises(clopt.CloptError, match=r'^The output "t" is a list, so no array can be'):
        compiled.run([s, z], {"t": w})


def test_stated_lengths_are_one_program_that_is_saved(tmp_path: Path, device: str):
    compiled = clopt.compile(SCALED, device=device, dims={"s": 2, "n": 4})
    s, z = [floats(4, 3), floats(4, 3)], floats(3)
    assert_same(compiled.run([s, z])[0], [each * z for each in s])
    assert compiled.memory.total > 0
    compiled.save(tmp_path / "saved")
    loaded = clopt.load(tmp_path / "saved", device=device)
    assert [port.name for port in loaded.inputs] == ["s_0", "s_1", "z"]
    first, second, _ = loaded.run({"s_0": s[0], "s_1": s[1], "z": z})
    assert_same([first, second], [each * z for each in s])
    compiled.save_c(tmp_path / "package")
    assert "s_1" in (tmp_path / "package" / "model.h").read_text()
    for wrong, sentence in (
        (s[:1], 'The input "s" has the length 1, but dims states 2'),
        ([s[0], floats(3, 3)], 'The array for "s_1" has the shape 3x3, but the model was comp'),
    ):
        with pytest.raises(clopt.CloptError, match=f"^{sentence}"):
            compiled.run([wrong, z])


def test_a_range_holds_for_each_element(device: str):
    compiled = clopt.compile(SCALED, device=device, dims={"n": (1, 4)})
    s, z = [floats(1, 3), floats(4, 3)], floats(3)
    assert_same(compiled.run([s, z])[0], [each * z for each in s])
    with pytest.raises(clopt.CloptError, match=r"^The dimension s_1\.0 is 5, but its range is"):
        compiled.run([[s[0], floats(5, 3)], z])
    fixed = clopt.compile(SCALED, device=device, dims={"s": 2, "n": (1, 4)})
    with pytest.raises(clopt.CloptError, match=r"^The output t is a list"):
        fixed.save("folder")


def test_for_inputs_returns_a_program_of_tensors(device: str):
    compiled = clopt.compile(CHOSEN, device=device)
    program = compiled.for_inputs({"o": None, "x": floats(2, 2)})
    assert [str(port) for port in program.inputs] == ["x: 2x2 float32"]
    assert [port.name for port in program.outputs] == ["y", "has"]
    with pytest.raises(clopt.CloptError, match=r"^the length of 'o' \(optional\) is not fixed; bi"):
        compiled.save("folder")


def test_a_second_start_compiles_nothing(compilations: list[object], tmp_path: Path, device: str):
    path = tmp_path / "model.onnx"
    onnx.save(SCALED, path)
    seen: list[int] = []
    for _ in range(2):
        compiled = clopt.compile(path, device=device)
        for sizes in ((2, 5), (4,), (2, 5)):
            s, z = [floats(n, 3) for n in sizes], floats(3)
            assert_same(compiled.run([s, z])[0], [each * z for each in s])
        seen.append(len(compilations))
    # Two models with open sizes, a program of each; first the compiler found the sequence.
    assert seen == [5, 5]


def test_nothing_is_returned_without_elements(device: str):
    proto = graph("(optional(float[2]) o) => (optional(float[2]) p)", "p = Identity (o)")
    compiled = clopt.compile(proto, device=device)
    assert compiled.run([None]) == [None]
    x = floats(2)
    assert_same(compiled.run([x]), [x])


WRONG: dict[str, tuple[Any, str]] = {
    "an array": (
        np.zeros((2, 3, 3), np.float32),
        'The input "s" is a sequence, so it takes a list of arrays, not numpy.ndarray.',
    ),
    "None": (None, 'The input "s" is a sequence, so it takes a list of arrays, not NoneType.'),
    "None in the list": ([floats(2, 3), None], 'The input "s_1" is None; pass an array.'),
    "another rank": (
        [floats(2, 3), floats(3)],
        'The array for "s_1" has the shape 3, but the model takes nx3.',
    ),
    "another size": (
        [floats(2, 4)],
        'The array for "s_0" has the shape 2x4, but the model takes s_0.0x3.',
    ),
    "another type": (
        [np.zeros((2, 3))],
        'The array for "s_0" has the type float64, but the model has float32; convert it, for '
        "example by .astype(numpy.float32).",
    ),
    "words": (["a"], 'The array for "s_0" has the shape (), but the model takes nx3.'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_one_sentence(name: str, device: str):
    value, sentence = WRONG[name]
    compiled = clopt.compile(SCALED, device=device)
    with pytest.raises(clopt.CloptError) as refused:
        compiled.run({"s": value, "z": floats(3)})
    assert str(refused.value) == sentence


DIMS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": (
        {"m": 2},
        "dims names m, which is neither an open dimension nor a sequence of the model; it has: n, "
        "s.",
    ),
    "range of lengths": ({"s": (1, 3)}, "dims gives a range to the length of s; state one length"),
    "negative": ({"s": -1}, "dims gives -1 to the sequence 's'; give a length of 0 or more."),
}


@pytest.mark.parametrize("name", DIMS)
def test_wrong_dims_are_one_sentence(name: str):
    dims, sentence = DIMS[name]
    with pytest.raises(clopt.CloptError) as refused:
        clopt.compile(SCALED, target="pocl", dims=dims)
    assert str(refused.value).startswith(sentence)


def test_unknown_outputs_and_unstated_presence_are_one_sentence(device: str):
    compiled = clopt.compile(CHOSEN, device=device, dims={"o": 1})
    for inputs, outputs, sentence in (
        ([floats(2, 2), floats(2, 2)], ["p_0"], 'The model has no output called "p_0"; it has "y"'),
        ([floats(2, 2), floats(2, 2)], "y", r"The outputs must be a list of names \("),
        ([None, floats(2, 2)], None, 'The input "o" is absent, but dims states 1; pass what it st'),
    ):
        with pytest.raises(clopt.CloptError, match=f"^{sentence}"):
            compiled.run(inputs, outputs)


def test_a_copy_is_of_a_program(device: str):
    compiled = clopt.compile(SCALED, device=device, dims={"s": 1, "n": 2})
    with pytest.raises(clopt.CloptError, match=r"cannot be pickled or copied; pickle the program"):
        copy.copy(compiled)
    x, z = floats(2, 3), floats(3)
    assert isinstance(compiled, clopt.SequenceModel)
    copied = copy.copy(compiled.for_inputs([[x], z]))
    assert_same(copied.run({"s_0": x, "z": z})[0], x * z)


def test_a_list_of_many_elements(device: str):
    proto = graph(
        "(seq(float[4]) s) => (float[4] y)",
        "a = ConcatFromSequence<axis=0, new_axis=1> (s)  y = ReduceMax<keepdims=0> (a, zero)",
    )
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "zero"))
    s = [floats(4) for _ in range(100)]
    assert_same(clopt.compile(proto, device=device).run([s])[0], np.max(s, axis=0))


def test_ranges_of_elements_are_saved(tmp_path: Path, device: str):
    proto = graph(
        "(seq(float[n,4]) s, float[4] z) => (float[4] y)",
        "a = SequenceAt (s, zero)  b = Add (a, z)  y = ReduceMax<keepdims=0> (b, axes)",
    )
    for name, value in (("zero", 0), ("axes", [0])):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(value), name))
    clopt.compile(proto, device=device, dims={"s": 1, "n": (1, 3, 3)}).save(tmp_path / "saved")
    loaded = clopt.load(tmp_path / "saved", device=device)
    for n in (2, 3):
        x, z = floats(n, 4), floats(4)
        assert_same(loaded.run({"s_0": x, "z": z})[0], np.max(x + z, axis=0))
