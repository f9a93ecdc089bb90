"""Networks of torchvision and encoders compute what they compute in torch, in both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import clopt
from clopt import torch_backend

pytestmark = pytest.mark.by_default(cases=0)  # torch is installed for the thorough tier

# Small forms of the networks, with all of their operators.
NETWORKS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "alexnet": (64, {}),
    "resnet18": (32, {}),
    "vgg11": (32, {}),
    "squeezenet1_1": (32, {}),
    "mobilenet_v2": (32, {"width_mult": 0.25}),
    "mobilenet_v3_small": (32, {}),
    "mnasnet0_5": (32, {}),
    "shufflenet_v2_x0_5": (32, {}),
    "efficientnet_b0": (32, {}),
    "convnext_tiny": (32, {}),
}

TRANSFORMERS: Mapping[str, Mapping[str, Any]] = {
    "VisionTransformer": {
        "image_size": 32,
        "patch_size": 8,
        "num_layers": 2,
        "num_heads": 2,
        "hidden_dim": 16,
        "mlp_dim": 32,
    },
    "SwinTransformer": {
        "patch_size": [4, 4],
        "embed_dim": 12,
        "depths": [2, 2],
        "num_heads": [2, 4],
        "window_size": [7, 7],
    },
    "DenseNet": {"growth_rate": 8, "block_config": (2, 2), "num_init_features": 8},
}


def check(torch: ModuleType, network: Any, *inputs: Any) -> None:
    """Compare both ways with torch."""
    network = network.eval().requires_grad_(False)
    expected = network(*inputs)
    assert expected.abs().max() > 0
    (result,) = clopt.from_torch(network, inputs).run([x.numpy() for x in inputs])
    bound = 2e-5 * expected.abs().max().item()
    np.testing.assert_allclose(result, expected.numpy(), rtol=0, atol=bound)
    torch._dynamo.reset()
    result = torch.compile(network, backend="clopt", fullgraph=True)(*inputs)
    torch.testing.assert_close(result, expected, rtol=0, atol=bound)


@pytest.fixture(autouse=True)
def one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse a second program: all calls of these networks are imported."""
    make: Callable[..., Any] = torch_backend.partition

    def partition(graph: Any, computed: Any) -> Any:
        calls = [node for node in graph.graph.nodes if node.op == "call_function"]
        assert [str(node) for node in calls if node not in computed] == []
        fused, names = make(graph, computed)
        assert len(names) == 1
        return fused, names

    monkeypatch.setattr(torch_backend, "partition", partition)


@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_torchvision(name: str, torch: ModuleType, torchvision: ModuleType) -> None:
    size, options = NETWORKS[name]
    torch.manual_seed(1)
    network = getattr(torchvision.models, name)(weights=None, num_classes=10, **options)
    check(torch, network, torch.randn(2, 3, size, size))


@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_small_forms(name: str, torch: ModuleType, torchvision: ModuleType) -> None:
    torch.manual_seed(1)
    network = getattr(torchvision.models, name)(num_classes=10, **TRANSFORMERS[name])
    if name == "VisionTransformer":
        torch.nn.init.normal_(network.heads.head.weight)  # it begins as zeros
    check(torch, network, torch.randn(2, 3, 32, 32))


@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(
    ("mask", "options"),
    [
        ("none", {"activation": "gelu"}),
        ("padding", {"norm_first": True}),
        ("causal", {}),
        ("both", {"activation": "gelu"}),
    ],
    ids=["none", "padding", "causal", "both"],
)
def test_an_encoder_of_tokens(torch: ModuleType, mask: str, options: Mapping[str, Any]) -> None:
    nn = torch.nn

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(50, 32), nn.Embedding(16, 32)
            self.first = nn.LayerNorm(32)
            layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, **options)
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

        def forward(self, tokens, padding):
            places = torch.arange(tokens.shape[1])
            x = self.first(self.words(tokens) + self.places(places))
            causal = torch.triu(torch.ones(12, 12, dtype=torch.bool), 1)
            return self.layers(
                x,
                mask=causal if mask in ("causal", "both") else None,
                is_causal=False,  # otherwise torch looks into the mask, which no export can
                src_key_padding_mask=padding if mask in ("padding", "both") else None,
            )

    tokens = torch.randint(0, 50, (2, 12))
    padding = torch.zeros(2, 12, dtype=torch.bool)
    padding[1, 9:] = True
    check(torch, Encoder(), tokens, padding)
