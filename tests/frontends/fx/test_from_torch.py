"""`clopt.from_torch`: modules of PyTorch compute what they compute in torch."""

from __future__ import annotations

import sys
from io import BytesIO
from types import ModuleType

import numpy as np
import pytest

import clopt

pytestmark = pytest.mark.by_default(cases=0)  # torch is installed for the thorough tier


def small_network(torch: ModuleType):
    """Return a network with convolution, normalisation, pooling and a matrix product."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    ).eval()


def test_a_module_computes_what_torch_computes(torch: ModuleType) -> None:
    network, image = small_network(torch), torch.randn(2, 3, 16, 16)
    model = clopt.from_torch(network, image)
    (result,) = model.run([image.numpy()])
    np.testing.assert_allclose(result, network(image).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_inputs_have_the_names_of_the_arguments(torch: ModuleType) -> None:
    class Sum(torch.nn.Module):
        def forward(self, first, second):
            return first - second

    a, b = torch.randn(3), torch.randn(3)
    for example in ((a, b), {"first": a, "second": b}):
        model = clopt.from_torch(Sum(), example)
        assert [each.name for each in model.inputs] == ["first", "second"]
        (result,) = model.run({"second": b.numpy(), "first": a.numpy()})
        np.testing.assert_array_equal(result, (a - b).numpy())


def test_options_are_those_of_compile(torch: ModuleType) -> None:
    network, image = small_network(torch), torch.randn(2, 3, 16, 16)
    model = clopt.from_torch(network, image, target="pocl", precision="f16-storage")
    (result,) = model.run([image.numpy()])
    exact = network(image).detach().numpy()
    assert 0 < np.abs(result - exact).max() < 1e-2


def test_calls_that_clopt_does_not_compute_are_named(torch: ModuleType) -> None:
    class Sorted(torch.nn.Module):
        def forward(self, x):
            return torch.sort(x.relu())[0]

    with pytest.raises(clopt.CloptError) as refusal:
        clopt.from_torch(Sorted(), torch.randn(4))
    assert str(refusal.value) == (
        "aten.sort.default ('sort') is not a supported operator; "
        'torch.compile(model, backend="clopt") leaves such calls in torch.'
    )


def test_a_module_that_torch_cannot_export_is_refused_in_one_sentence(torch: ModuleType) -> None:
    class Branch(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(clopt.CloptError, match=r"^torch\.export cannot export this module: ") as no:
        clopt.from_torch(Branch(), torch.randn(4))
    assert "\n" not in str(no.value)


def test_a_module_in_training_is_refused(torch: ModuleType) -> None:
    with pytest.raises(clopt.CloptError, match=r"call eval\(\)"):
        clopt.from_torch(small_network(torch).train(), torch.randn(2, 3, 16, 16))


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from clopt.frontends.fx import tracing

    tracing.torch_module.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    try:
        with pytest.raises(clopt.CloptError, match=r'pip install "clopt\[torch\]"'):
            clopt.from_torch(object(), None)
    finally:
        tracing.torch_module.cache_clear()


@pytest.mark.parametrize("sizes", [(1, 1), (3, 7), (4, 6), (2, 2), (10, 12), (9, 5)])
def test_adaptive_pooling(torch: ModuleType, sizes: tuple[int, int]) -> None:
    pool, image = torch.nn.AdaptiveAvgPool2d(sizes), torch.randn(1, 4, 5, 6)
    (result,) = clopt.from_torch(pool, image).run([image.numpy()])
    np.testing.assert_allclose(result, pool(image).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("where", ["adjacent", "apart", "first", "broadcast"])
def test_several_tensors_of_indices(torch: ModuleType, where: str) -> None:
    i, j = torch.tensor([[2, 0], [1, -1]]), torch.tensor([[0], [3]])
    key = {
        "adjacent": (slice(None), i, j),
        "apart": (i, slice(None), j),
        "first": (i, i.T),
        "broadcast": (slice(1, 3), i[0], j, slice(0, 1)),
    }[where]

    class Indexed(torch.nn.Module):
        def forward(self, x):
            return x[key] * 2

    x = torch.randn(3, 4, 5, 2)
    (result,) = clopt.from_torch(Indexed(), x).run([x.numpy()])
    np.testing.assert_array_equal(result, Indexed()(x).numpy())


def test_a_selection_by_a_mask_is_refused(torch: ModuleType) -> None:
    class Selected(torch.nn.Module):
        def forward(self, x):
            return x[x > 0]

    with pytest.raises(clopt.CloptError, match="selects by a boolean mask"):
        clopt.from_torch(Selected(), torch.randn(4))


def test_writes_into_parts_of_a_tensor(torch: ModuleType) -> None:
    class Written(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            y[1:3, 2:] = x[:2, :4]
            y[:, -1] = 7
            y[3] += 1
            return y

    x = torch.randn(4, 6)
    (result,) = clopt.from_torch(Written(), x).run([x.numpy()])
    np.testing.assert_array_equal(result, Written()(x).numpy())


def test_a_mean_in_another_order_of_axes(torch: ModuleType) -> None:
    """Its decomposition sets the strides of the result by as_strided."""
    pool = torch.nn.AdaptiveAvgPool2d(1)
    x = torch.randn(2, 5, 5, 3).permute(0, 3, 1, 2)
    (result,) = clopt.from_torch(pool, x).run([x.numpy()])
    np.testing.assert_allclose(result, pool(x).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore")  # torch deprecates the exporter that needs no onnxscript
def test_the_kernels_are_those_of_the_same_network_from_onnx(torch: ModuleType) -> None:
    network, image = small_network(torch), torch.randn(2, 3, 16, 16)
    file = BytesIO()
    torch.onnx.export(network, (image,), file, dynamo=False)
    models = clopt.from_torch(network, image), clopt.compile(file.getvalue())
    first, second = ([kernel.name for kernel in model.describe().kernels] for model in models)
    assert first == second
