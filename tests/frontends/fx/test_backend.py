"""`torch.compile(backend="clopt")`: parts that clopt cannot compute stay in torch."""

from __future__ import annotations

import warnings
from types import ModuleType

import pytest

from clopt import torch_backend

pytestmark = pytest.mark.by_default(cases=0)  # torch is installed for the thorough tier


@pytest.fixture
def parts(torch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[torch_backend.TorchPart]:
    """Return the list of the compiled parts, which grows during the test."""
    torch._dynamo.reset()
    made: list[torch_backend.TorchPart] = []

    class Recorded(torch_backend.TorchPart):
        def __init__(self, *arguments) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(torch_backend, "TorchPart", Recorded)
    return made


def perceptron(torch: ModuleType):
    """Return two layers without gradients."""
    nn = torch.nn
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3)).eval().requires_grad_(False)


def test_a_network_is_one_program(torch: ModuleType, parts: list) -> None:
    network, x = perceptron(torch), torch.randn(4, 6)
    compiled = torch.compile(network, backend="clopt")
    torch.testing.assert_close(compiled(x), network(x))
    assert len(parts) == 1
    assert len(parts[0].model.inputs) == 1, "weights are inputs"


def test_unsupported_calls_stay_in_torch(torch: ModuleType, parts: list) -> None:
    def function(x):
        ordered = torch.sort(x.relu() * 2 + 1)[0]
        return ordered.sigmoid() - 1

    x = torch.randn(5)
    compiled = torch.compile(function, backend="clopt")
    torch.testing.assert_close(compiled(x), function(x))
    assert len(parts) == 2


@pytest.mark.filterwarnings("error:.*stays in torch")
@pytest.mark.parametrize("dynamic", [None, True])
def test_numbers_that_change(torch: ModuleType, parts: list, dynamic: bool | None) -> None:
    """Dynamo passes such a number as a tensor of float64, which it reads by `item`."""

    def function(x, scale):
        return (x.relu() + 1) * scale

    compiled = torch.compile(function, backend="clopt", dynamic=dynamic)
    for batch, scale in ((2, 2.0), (2, 0.5), (3, 0.25), (3, 1.5)):
        x = torch.randn(batch, 6)
        torch.testing.assert_close(compiled(x, scale), function(x, scale))
    assert parts


def test_a_graph_that_torch_cannot_trace_stays_in_torch(
    torch: ModuleType, parts: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a dispatcher's trouble\nand its traceback")

    monkeypatch.setattr(torch_backend, "trace", fail)
    x = torch.randn(4)
    with pytest.warns(UserWarning, match=r"stays in torch: a dispatcher's trouble$"):
        assert torch.equal(torch.compile(torch.neg, backend="clopt")(x), -x)


def test_each_batch_has_its_program(torch: ModuleType, parts: list) -> None:
    network = perceptron(torch)
    compiled = torch.compile(network, backend="clopt", dynamic=True)
    for batch in (2, 5, 2, 3, 5):
        x = torch.randn(batch, 6)
        torch.testing.assert_close(compiled(x), network(x))
    assert [part.model.inputs[0].shape[0] for part in parts] == [2, 5, 3]


def test_changed_weights_are_seen(torch: ModuleType, parts: list) -> None:
    network, x = perceptron(torch), torch.randn(4, 6)
    compiled = torch.compile(network, backend="clopt")
    for _ in range(5):
        torch.testing.assert_close(compiled(x), network(x))
        network[0].weight.add_(0.5)
    assert len(parts) < 5, "a weight that changes often is an input"


def test_gradients_are_left_to_torch(torch: ModuleType, parts: list) -> None:
    network, x = perceptron(torch).requires_grad_(True), torch.randn(4, 6)
    compiled = torch.compile(network, backend="clopt")
    with pytest.warns(UserWarning, match="computes no gradients"):
        compiled(x).sum().backward()
    assert network[0].weight.grad is not None
    assert parts == []


def test_options_are_those_of_compile(torch: ModuleType, parts: list) -> None:
    network, x = perceptron(torch), torch.randn(4, 6)
    compiled = torch.compile(network, backend="clopt", options={"target": "pocl", "texture": "off"})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        torch.testing.assert_close(compiled(x), network(x))
    assert parts[0].model.describe().target == "pocl"


def test_a_wrong_option_is_an_error(torch: ModuleType) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(perceptron(torch), backend="clopt", options={"target": "nowhere"})
    with pytest.raises(Exception, match="nowhere"):
        compiled(torch.randn(4, 6))


def test_views_and_mutations_of_arguments(torch: ModuleType, parts: list) -> None:
    def function(x, sums):
        sums += x.exp().sum()
        return x.t(), (x + 1).reshape(6)

    x, mine, theirs = torch.randn(2, 3), torch.zeros(1), torch.zeros(1)
    compiled = torch.compile(function, backend="clopt")
    torch.testing.assert_close(compiled(x, mine), function(x, theirs))
    torch.testing.assert_close(mine, theirs)
    assert parts


def test_inputs_with_strides_and_results_that_stay(torch: ModuleType, parts: list) -> None:
    network = perceptron(torch)
    compiled = torch.compile(network, backend="clopt")
    x = torch.randn(6, 8)[:, ::2].t()
    first = compiled(x)
    kept = first.clone()
    torch.testing.assert_close(first, network(x))
    compiled(-x)
    torch.testing.assert_close(first, kept, rtol=0, atol=0)
    assert parts
