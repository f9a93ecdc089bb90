"""Small PyTorch networks of many families whose exporter leaves every dimension open.

Each has seeded weights and draws inputs of random sizes. None needs torchvision or a download.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Draw = Callable[[int, int], int]
"""Draws a size from the first number to the second."""


@dataclass(frozen=True)
class OpenNetwork:
    """A network, and its inputs by name for sizes that `draw` returns."""

    build: Callable[[], nn.Module]
    inputs: Callable[[Draw], dict[str, Tensor]]
    fixed: tuple[str, ...] = ()
    """Dimensions that stay fixed, as `input.axis`."""


class Residual(nn.Module):
    """An image classifier with residual blocks (He et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1)
        self.blocks = nn.ModuleList(nn.Conv2d(16, 16, 3, 1, 1) for _ in range(4))
        self.head = nn.Linear(16, 10)

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(x.mean((2, 3)))


class UNet(nn.Module):
    """A U-Net of two levels (Ronneberger et al., 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.bottom = nn.Conv2d(8, 16, 3, 2, 1)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, image: Tensor) -> Tensor:
        skipped = torch.relu(self.down(image))
        x = self.up(torch.relu(self.bottom(skipped)))
        return torch.sigmoid(self.out(torch.cat([skipped, x], 1)))


class SuperResolution(nn.Module):
    """Sub-pixel convolution (Shi et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(1, 16, 5, padding=2), nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, image: Tensor) -> Tensor:
        return F.pixel_shuffle(self.last(torch.tanh(self.first(image))), 2)


class Segmentation(nn.Module):
    """Atrous convolutions, pooled context, and a map of the image's size (DeepLab, 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.branches = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=d, dilation=d) for d in (1, 2, 4))
        self.out = nn.Conv2d(32, 3, 1)

    def forward(self, image: Tensor) -> Tensor:
        x = torch.relu(self.stem(image))
        context = x.mean((2, 3), keepdim=True).expand_as(x)
        x = self.out(torch.cat([context, *(branch(x) for branch in self.branches)], 1))
        return F.interpolate(x, size=image.shape[-2:], mode="bilinear", align_corners=False)


class Detector(nn.Module):
    """Boxes of a grid, of which the best eight are returned (YOLO without suppression)."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Conv2d(3, 16, 3, 4, 1), nn.Conv2d(16, 5, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        x = self.head(torch.relu(self.body(image)))
        height, width = x.shape[-2:]
        y = torch.arange(height).reshape(-1, 1).expand(height, width)
        grid = torch.stack([torch.arange(width).expand(height, width), y])
        boxes = torch.cat([x[:, :2].sigmoid() + grid, x[:, 2:4].exp()], 1).flatten(2)
        scores, best = x[:, 4].flatten(1).topk(8)
        return boxes.gather(2, best.unsqueeze(1).expand(-1, 4, -1)), scores


class Encoder(nn.Module):
    """A transformer encoder over tokens with a padding mask (Devlin et al., 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True)
        self.head = nn.Linear(32, 10)

    def forward(self, tokens: Tensor, padding: Tensor) -> Tensor:
        return self.head(self.layer(self.embedding(tokens), src_key_padding_mask=padding))


class Decoder(nn.Module):
    """A causal transformer (Radford et al., 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(100, 32), nn.Embedding(64, 32)
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 100)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.positions(torch.arange(length))
        q, k, v = self.qkv(x).chunk(3, -1)
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        scores = (q @ k.transpose(1, 2) / 5.7).masked_fill(~mask, float("-inf"))
        return self.out(x + scores.softmax(-1) @ v)


class CachedStep(nn.Module):
    """One step of a decoder whose keys and values grow."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = self.qkv(x).chunk(3, -1)
        keys, values = torch.cat([keys, k], 1), torch.cat([values, v], 1)
        return (q @ keys.transpose(1, 2) / 4).softmax(-1) @ values, keys, values


class Translator(nn.Module):
    """An encoder and a decoder with cross attention (Vaswani et al., 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.model = nn.Transformer(16, 2, 1, 1, 32, 0.0, batch_first=True)
        self.out = nn.Linear(16, 50)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.out(self.model(self.embedding(source), self.embedding(target)))


class Recurrent(nn.Module):
    """A recurrent layer and a linear one."""

    def __init__(self, kind: type[nn.LSTM | nn.GRU]) -> None:
        super().__init__()
        self.layer, self.out = kind(8, 16, batch_first=True, bidirectional=True), nn.Linear(32, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.layer(x)[0])


class Temporal(nn.Module):
    """Dilated causal convolutions over time (Bai et al., 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(8, 8, 3, dilation=d) for d in (1, 2, 4))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = x + torch.relu(layer(F.pad(x, (2 * layer.dilation[0], 0))))
        return x


class Windows(nn.Module):
    """Attention within shifted windows of 4x4 (Liu et al., 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(12, 36)

    def forward(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        rolled = torch.roll(x, (-2, -2), (1, 2))
        tiles = rolled.view(batch, height // 4, 4, width // 4, 4, channels)
        tiles = tiles.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels)
        q, k, v = self.qkv(tiles).chunk(3, -1)
        tiles = (q @ k.transpose(1, 2) / 3.5).softmax(-1) @ v
        tiles = tiles.view(batch, height // 4, width // 4, 4, 4, channels)
        joined = tiles.permute(0, 1, 3, 2, 4, 5).reshape(batch, height, width, channels)
        return x + torch.roll(joined, (2, 2), (1, 2))


class Patches(nn.Module):
    """A vision transformer whose positions are resized to the image (Dosovitskiy et al., 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.positions = nn.Parameter(torch.randn(1, 16, 4, 4))
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patch(image)
        size = x.shape[-2:]
        x = x + F.interpolate(self.positions, size=size, mode="bilinear", align_corners=False)
        return self.layer(x.flatten(2).transpose(1, 2)).mean(1)


class Graph(nn.Module):
    """Messages along edges, summed at the nodes (Gilmer et al., 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.update = nn.Linear(5, 8), nn.Linear(13, 5)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        messages = torch.relu(self.message(nodes[edges[0]]))
        sums = nodes.new_zeros(nodes.shape[0], 8).index_add(0, edges[1], messages)
        return self.update(torch.cat([nodes, sums], 1))


class Spectrum(nn.Module):
    """Magnitudes of windowed Fourier transforms, by convolution, and their mean over time."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.arange(32) * torch.arange(17).reshape(-1, 1) * (2 * torch.pi / 32)
        basis = torch.cat([angles.cos(), -angles.sin()]) * torch.hann_window(32)
        self.register_buffer("basis", basis.unsqueeze(1))

    def forward(self, sound: Tensor) -> tuple[Tensor, Tensor]:
        padded = F.pad(sound.unsqueeze(1), (16, 16), mode="reflect")
        parts = F.conv1d(padded, self.basis, stride=8)
        power = (parts[:, :17] ** 2 + parts[:, 17:] ** 2 + 1e-6).log()
        return power, power.mean(2)


class Experts(nn.Module):
    """A mixture of four experts, of which each token takes two (Shazeer et al., 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.Parameter(torch.randn(4, 8, 8))

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).topk(2)
        results = torch.einsum("btc,ecd->bted", x, self.experts)
        taken = results.gather(2, chosen.unsqueeze(-1).expand(-1, -1, -1, 8))
        return (weights.softmax(-1).unsqueeze(-1) * taken).sum(2)


class Autoencoder(nn.Module):
    """Convolutions with strides, and their transposes."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ELU(), nn.Conv2d(8, 4, 3, 2, 1))
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(4, 8, 4, 2, 1), nn.ELU(), nn.ConvTranspose2d(8, 1, 4, 2, 1)
        )

    def forward(self, image: Tensor) -> Tensor:
        return self.decoder(self.encoder(image))


class Retrieval(nn.Module):
    """The three nearest of some documents for each query."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 8)

    def forward(self, queries: Tensor, documents: Tensor) -> tuple[Tensor, Tensor]:
        a, b = (F.normalize(self.project(x), dim=-1) for x in (queries, documents))
        return (a @ b.T).topk(3)


class Recommender(nn.Module):
    """Embeddings of items, summed under a mask, times those of candidates."""

    def __init__(self) -> None:
        super().__init__()
        self.items = nn.Embedding(200, 16)

    def forward(self, history: Tensor, candidates: Tensor) -> Tensor:
        mask = (history != 0).unsqueeze(-1)
        total = (self.items(history) * mask).sum(1) / mask.sum(1).clamp(min=1)
        return (self.items(candidates) @ total.unsqueeze(-1)).squeeze(-1)


def image_of(channels: int, multiple: int, least: int = 2) -> Callable[[Draw], dict[str, Tensor]]:
    def inputs(draw: Draw) -> dict[str, Tensor]:
        height, width = (multiple * draw(least, 8) for _ in range(2))
        return {"image": torch.randn(draw(2, 4), channels, height, width)}

    return inputs


def _tokens(draw: Draw) -> dict[str, Tensor]:
    return {"tokens": torch.randint(0, 100, (draw(2, 4), draw(3, 40)))}


def _padded(draw: Draw) -> dict[str, Tensor]:
    tokens = _tokens(draw)["tokens"]
    return {"tokens": tokens, "padding": torch.arange(tokens.shape[1]).expand_as(tokens) > 2}


def _cache(draw: Draw) -> dict[str, Tensor]:
    batch, past = draw(2, 4), draw(2, 20)
    sizes = {"x": 1, "keys": past, "values": past}
    return {name: torch.randn(batch, size, 16) for name, size in sizes.items()}


def _pair(draw: Draw) -> dict[str, Tensor]:
    batch = draw(2, 4)
    lengths = {"source": draw(2, 20), "target": draw(2, 20)}
    return {name: torch.randint(0, 50, (batch, length)) for name, length in lengths.items()}


def _graph(draw: Draw) -> dict[str, Tensor]:
    nodes = draw(3, 20)
    edges = torch.randint(0, nodes, (2, draw(2, 40)))
    return {"nodes": torch.randn(nodes, 5), "edges": edges}


def _retrieval(draw: Draw) -> dict[str, Tensor]:
    return {"queries": torch.randn(draw(2, 6), 8), "documents": torch.randn(draw(4, 40), 8)}


def _recommended(draw: Draw) -> dict[str, Tensor]:
    batch = draw(2, 4)
    lengths = {"history": draw(2, 12), "candidates": draw(2, 30)}
    return {name: torch.randint(0, 200, (batch, length)) for name, length in lengths.items()}


NETWORKS: dict[str, OpenNetwork] = {
    "residual network": OpenNetwork(Residual, image_of(3, 1, 4), ("image.1",)),
    "U-Net": OpenNetwork(UNet, image_of(3, 2), ("image.1",)),
    "super-resolution": OpenNetwork(SuperResolution, image_of(1, 1), ("image.1",)),
    "segmentation": OpenNetwork(Segmentation, image_of(3, 4), ("image.1",)),
    "detection": OpenNetwork(Detector, image_of(3, 4, 4), ("image.1",)),
    "encoder": OpenNetwork(Encoder, _padded),
    "decoder": OpenNetwork(Decoder, _tokens),
    "decoder step": OpenNetwork(CachedStep, _cache, ("x.1", "x.2", "keys.2", "values.2")),
    "encoder-decoder": OpenNetwork(Translator, _pair),
    "LSTM": OpenNetwork(
        lambda: Recurrent(nn.LSTM),
        lambda draw: {"x": torch.randn(draw(2, 4), draw(2, 9), 8)},
        ("x.2",),
    ),
    "GRU": OpenNetwork(
        lambda: Recurrent(nn.GRU),
        lambda draw: {"x": torch.randn(draw(2, 4), draw(2, 9), 8)},
        ("x.2",),
    ),
    "TCN": OpenNetwork(
        Temporal, lambda draw: {"x": torch.randn(draw(2, 4), 8, draw(2, 50))}, ("x.1",)
    ),
    "windows": OpenNetwork(
        Windows,
        lambda draw: {"x": torch.randn(draw(2, 4), 4 * draw(2, 5), 4 * draw(2, 5), 12)},
        ("x.3",),
    ),
    "patches": OpenNetwork(Patches, image_of(3, 4), ("image.1",)),
    "graph": OpenNetwork(Graph, _graph, ("nodes.1", "edges.0")),
    "spectrum": OpenNetwork(
        Spectrum, lambda draw: {"sound": torch.randn(draw(2, 4), 8 * draw(5, 60))}
    ),
    "experts": OpenNetwork(
        Experts, lambda draw: {"x": torch.randn(draw(2, 4), draw(2, 20), 8)}, ("x.2",)
    ),
    "autoencoder": OpenNetwork(Autoencoder, image_of(1, 4), ("image.1",)),
    "retrieval": OpenNetwork(Retrieval, _retrieval, ("queries.1", "documents.1")),
    "recommender": OpenNetwork(Recommender, _recommended),
}
