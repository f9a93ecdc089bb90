"""The weights store: content gives the key, files come back whole or are refused."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from clopt import CloptError, weights
from clopt.context import CloptContext, weights_of
from clopt.weights import STORABLE, Weights

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_equal_arrays_share_a_key() -> None:
    weights = Weights()
    key = weights.add(ARRAY, "first")
    assert weights.add(ARRAY.copy(), "second") == key
    assert weights.add(np.asfortranarray(ARRAY)) == key
    assert weights.hint(key) == "first"
    assert len(weights) == 1


def test_type_and_shape_are_content() -> None:
    weights = Weights()
    arrays = [ARRAY, ARRAY.reshape(3, 2), ARRAY.view(np.int32), ARRAY.ravel(), ARRAY + 1]
    assert len({weights.add(array) for array in arrays}) == len(arrays)


def test_the_key_of_a_tensor_never_changes() -> None:
    assert Weights().add(ARRAY) == "w_3378efc20f15f0e8"


def test_stored_arrays_are_read_only() -> None:
    weights = Weights()
    stored = weights.get(weights.add(ARRAY))
    with pytest.raises(ValueError, match="read-only"):
        stored[0, 0] = 1


def test_unknown_key_and_type() -> None:
    with pytest.raises(CloptError, match='"w_0" is not in the store of 0 weights'):
        Weights().get("w_0")
    with pytest.raises(CloptError, match="The weight bias has the type complex64"):
        Weights().add(np.zeros(1, np.complex64), "bias")


def test_every_type_survives_a_file(tmp_path: Path) -> None:
    weights = Weights()
    shapes = [(), (0,), (2, 3)]
    arrays = [np.ones(shape, dtype) for dtype in sorted(STORABLE) for shape in shapes]
    keys = [weights.add(array) for array in arrays]
    weights.save(tmp_path / "w")
    loaded = Weights.load(tmp_path / "w")
    assert sorted(loaded.keys()) == sorted(keys)
    for key, array in zip(keys, arrays, strict=True):
        assert loaded.get(key).dtype == array.dtype
        np.testing.assert_array_equal(loaded.get(key), array, strict=True)


def test_damaged_files(tmp_path: Path) -> None:
    weights = Weights()
    weights.add(ARRAY)
    path = tmp_path / "w"
    weights.save(path)
    content = path.read_bytes()
    for damaged in (b"", content[:-1], content[:-1] + b"?", b"nonsense"):
        path.write_bytes(damaged)
        with pytest.raises(CloptError, match=r"w is damaged .*; compile the model again"):
            Weights.load(path)
    with pytest.raises(CloptError, match="Cannot read the weights file"):
        Weights.load(tmp_path / "absent")


def test_a_type_that_numpy_lacks(tmp_path: Path) -> None:
    header = b'{"w_0":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}'
    (tmp_path / "w").write_bytes(len(header).to_bytes(8, "little") + header + b"12")
    with pytest.raises(CloptError, match="has arrays of a type that numpy lacks"):
        Weights.load(tmp_path / "w")


def test_a_context_carries_its_weights() -> None:
    ctx = CloptContext()
    assert weights_of(ctx, ModuleOp([])) is ctx.weights
    assert weights_of(ctx.clone(), ModuleOp([])) is ctx.weights


def test_arrays_in_known_memory_have_known_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.arange(2000, dtype=np.float32)
    known = Weights()
    key = known.add(a, "a")
    store = Weights(known)
    digests = Mock(wraps=weights._content_key)
    monkeypatch.setattr(weights, "_content_key", digests)
    assert store.add(a) == key
    assert store.add(a[:]) == key
    digests.assert_not_called()
    for other in (a[:1000], a.reshape(40, 50), a.view(np.int32), a[::-1], a + 1):
        assert store.add(other) != key
    assert store.add(a.copy()) == key
    assert digests.call_count == 6
    np.testing.assert_array_equal(store.get(key), a)
