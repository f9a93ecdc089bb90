"""Outputs whose size only the device knows, as users of a model see them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.errors import CloptError
from support.onnx.models import model

NETWORK = model("float[3,40] x", "p = NonZero(x) y = Transpose<perm=[1,0]>(p) z = Abs(x)")


def sparse(seed: int, share: float) -> np.ndarray:
    """A matrix of which a share of the elements is not zero."""
    rng = np.random.default_rng(seed)
    return np.where(rng.uniform(size=(3, 40)) < share, -1, 0).astype(np.float32)


@pytest.mark.by_default(cases=1)
def test_each_inference_has_its_own_size(device: str, tmp_path: Path) -> None:
    """Of the compiled model, and of the one that is saved, pickled or read from the cache."""
    compiled = clopt.compile(NETWORK, device=device)
    compiled.save(tmp_path / "saved")
    for each in (
        compiled,
        clopt.load(tmp_path / "saved", device=device),
        pickle.loads(pickle.dumps(compiled)),
        clopt.compile(NETWORK.SerializeToString(), device=device),
        clopt.compile(NETWORK.SerializeToString(), device=device),
    ):
        assert [str(port) for port in each.outputs] == ["y: y.0x2 int64", "z: 3x40 float32"]
        assert [port.shape for port in each.outputs] == [(-1, 2), (3, 40)]
        for seed, share in enumerate((0, 0.4, 1)):
            x = sparse(seed, share)
            y, z = each.run([x])
            np.testing.assert_array_equal(y, np.argwhere(x))
            np.testing.assert_array_equal(z, -x)
            assert y.flags.c_contiguous


def test_selected_outputs(device: str) -> None:
    compiled, x = clopt.compile(NETWORK, device=device), sparse(0, 0.5)
    z, y = compiled.run({"x": x}, ["z", "y"])
    np.testing.assert_array_equal(y, np.argwhere(x))
    np.testing.assert_array_equal(z, -x)
    (count,) = compiled.run({"x": x}, ["y.size(0)"])
    assert count == np.count_nonzero(x)
    given = np.empty((3, 40), np.float32)
    (filled,) = compiled.run({"x": x}, {"z": given})
    assert filled is given
    np.testing.assert_array_equal(z, given)
    with pytest.raises(CloptError, match='size of the output "y" depends on values'):
        compiled.run({"x": x}, {"y": np.empty((9, 2), np.int64)})


def test_programs_that_run_without_python_return_the_bound_and_the_size(tmp_path: Path) -> None:
    """The caller's buffers have room for all elements."""
    compiled = clopt.compile(NETWORK, target="pocl")
    ports = {port.name: port.shape for port in compiled.describe().outputs}
    assert ports == {"y": (120, 2), "z": (3, 40), "y.size(0)": ()}
    compiled.save_c(tmp_path / "package")
    header = (tmp_path / "package" / "model.h").read_text()
    assert "y.size(0)" in header


def test_open_dimensions_beside_sizes_of_the_data(device: str) -> None:
    network = model("float[n,4] x", "p = NonZero(x) y = Transpose<perm=[1,0]>(p)")
    compiled = clopt.compile(network, device=device)
    for count in (3, 5):
        x = np.eye(count, 4, dtype=np.float32)
        (y,) = compiled.run([x])
        np.testing.assert_array_equal(y, np.argwhere(x))
