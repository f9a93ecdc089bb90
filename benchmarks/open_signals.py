"""Networks over sound, points, graphs and tables, and generators, with open sizes."""

from __future__ import annotations

import torch
from open_networks import Draw, OpenNetwork, image_of
from torch import Tensor, nn
from torch.nn import functional as F


class Whisper(nn.Module):
    """A spectrogram's encoder and a decoder that attends to it (Radford et al., 2022)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(20, 16, 3, 1, 1), nn.Conv1d(16, 16, 3, 2, 1)
        angles = torch.arange(64)[:, None] * torch.exp(-1.15 * torch.arange(8.0))
        self.register_buffer("waves", torch.cat([angles.sin(), angles.cos()], 1))
        self.encoder = nn.TransformerEncoderLayer(16, 2, 32, 0.0, F.gelu, 1e-5, True, True)
        self.decoder = nn.TransformerDecoderLayer(16, 2, 32, 0.0, F.gelu, 1e-5, True, True)
        self.tokens = nn.Embedding(50, 16)

    def forward(self, sound: Tensor, text: Tensor) -> Tensor:
        x = F.gelu(self.second(F.gelu(self.first(sound)))).transpose(1, 2)
        x = self.encoder(x + self.waves[: x.shape[1]])
        y = self.tokens(text) + self.waves[: text.shape[1]]
        mask = torch.full((text.shape[1], text.shape[1]), float("-inf")).triu(1)
        return self.decoder(y, x, mask) @ self.tokens.weight.T


class Conformer(nn.Module):
    """Attention and a convolution with a gate (Gulati et al., 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.reduce = nn.Conv2d(1, 8, 3, 2, 1)
        self.enter, self.norms = nn.Linear(80, 16), nn.ModuleList(nn.LayerNorm(16) for _ in "abc")
        self.feed = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.gate, self.spread = nn.Conv1d(16, 32, 1), nn.Conv1d(16, 16, 7, padding=3, groups=16)
        self.norm, self.out = nn.BatchNorm1d(16), nn.Conv1d(16, 16, 1)

    def forward(self, sound: Tensor) -> Tensor:
        x = torch.relu(self.reduce(sound.unsqueeze(1))).transpose(1, 2).flatten(2)
        x = self.enter(x)
        x = x + 0.5 * self.feed(self.norms[0](x))
        y = self.norms[1](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = F.glu(self.gate(self.norms[2](x).transpose(1, 2)), 1)
        return x + self.out(F.silu(self.norm(self.spread(y)))).transpose(1, 2)


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates and skips (van den Oord et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv1d(1, 8, 1)
        self.layers = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=2**i) for i in range(4))
        self.skips = nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(4))
        self.out = nn.Conv1d(8, 32, 1)

    def forward(self, sound: Tensor) -> Tensor:
        x, total = self.enter(sound), torch.zeros(())
        for layer, skip in zip(self.layers, self.skips, strict=True):
            a, b = layer(F.pad(x, (layer.dilation[0], 0))).chunk(2, 1)
            y = skip(torch.tanh(a) * torch.sigmoid(b))
            x, total = x + y, total + y
        return self.out(torch.relu(total))


class Spectrogram(nn.Module):
    """A Fourier transform of windows, bands of its power, and convolutions over them."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(32))
        self.register_buffer("bands", torch.rand(17, 8))
        self.layer, self.head = nn.Conv1d(8, 16, 3, padding=1), nn.Linear(16, 4)

    def forward(self, sound: Tensor) -> Tensor:
        parts = torch.stft(sound, 32, 8, window=self.window, center=False, return_complex=False)
        power = parts.pow(2).sum(-1)
        x = torch.log(power.transpose(1, 2) @ self.bands + 1e-3)
        return self.head(torch.relu(self.layer(x.transpose(1, 2))).mean(2))


class PointNet(nn.Module):
    """A learned rotation of points, and the maxima of their features (Qi et al., 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.turn, self.angles = nn.Conv1d(3, 16, 1), nn.Linear(16, 9)
        self.layers = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.segment = nn.Conv1d(32, 4, 1)

    def forward(self, points: Tensor) -> Tensor:
        turned = torch.relu(self.turn(points)).amax(2)
        matrix = self.angles(turned).view(-1, 3, 3) + torch.eye(3)
        x = self.layers(torch.bmm(matrix, points))
        most = x.amax(2, keepdim=True).expand(-1, -1, x.shape[2])
        return self.segment(torch.cat([x, most], 1))


class GraphAttention(nn.Module):
    """Attention over the edges into each node, by scattered sums (Velickovic et al., 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.score = nn.Linear(5, 8), nn.Linear(16, 1)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        x = self.project(nodes)
        source, target = edges[0], edges[1]
        scores = F.leaky_relu(self.score(torch.cat([x[source], x[target]], 1)), 0.2)
        weights = torch.exp(scores)
        empty = torch.zeros(nodes.shape[0], 1)
        sums = empty.scatter_add(0, target[:, None], weights)
        found = torch.zeros(nodes.shape[0], 8).index_add(0, target, weights * x[source])
        return F.elu(found / (sums + 1e-6))


class Diffusion(nn.Module):
    """A U-Net with group norms, attention and an embedding of the step (Ho et al., 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.enter, self.down = nn.Conv2d(3, 16, 3, 1, 1), nn.Conv2d(16, 32, 3, 2, 1)
        self.norms = nn.ModuleList(nn.GroupNorm(4, 32) for _ in range(2))
        self.middle, self.qkv = nn.Conv2d(32, 32, 3, 1, 1), nn.Conv2d(32, 96, 1)
        self.up, self.out = nn.Conv2d(48, 16, 3, 1, 1), nn.Conv2d(16, 3, 3, 1, 1)

    def forward(self, image: Tensor, step: Tensor) -> Tensor:
        angles = step[:, None].float() * torch.exp(-1.15 * torch.arange(8))
        embedded = self.step(torch.cat([angles.sin(), angles.cos()], 1))
        skipped = self.enter(image)
        x = self.down(F.silu(skipped)) + embedded[:, :, None, None]
        x = x + self.middle(F.silu(self.norms[0](x)))
        q, k, v = self.qkv(self.norms[1](x)).flatten(2).chunk(3, 1)
        found = v @ (q.transpose(1, 2) @ k / 32**0.5).softmax(-1).transpose(1, 2)
        x = F.interpolate(x + found.view_as(x), scale_factor=2.0, mode="nearest")
        return self.out(F.silu(self.up(torch.cat([x, skipped], 1))))


class Variational(nn.Module):
    """A variational autoencoder whose noise is an input (Kingma and Welling, 2014)."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.ends = nn.Linear(20, 16), nn.Linear(16, 8)
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 20))

    def forward(self, x: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        mean, log = self.ends(torch.tanh(self.encoder(x))).chunk(2, -1)
        loss = -0.5 * (1 + log - mean**2 - log.exp()).sum(-1)
        return torch.sigmoid(self.decoder(mean + noise * (0.5 * log).exp())), loss


class Generator(nn.Module):
    """A generator of images, by transposed convolutions (DCGAN, Radford et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.ConvTranspose2d(16, 16, 4, 1, 0, bias=False), nn.BatchNorm2d(16), nn.ReLU()),
            *(nn.ConvTranspose2d(16, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.2)),
            *(nn.ConvTranspose2d(8, 3, 3, 2, 1, 1), nn.Tanh()),
        )

    def forward(self, noise: Tensor) -> Tensor:
        return self.layers(noise[:, :, None, None])


class Style(nn.Module):
    """Style transfer by instance norms, reflected borders and resizing (Johnson et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.down = nn.Conv2d(3, 8, 9), nn.Conv2d(8, 16, 3, 2)
        self.norms = nn.ModuleList(nn.InstanceNorm2d(n, affine=True) for n in (8, 16, 8))
        self.up, self.last = nn.Conv2d(16, 8, 3), nn.Conv2d(8, 3, 9)

    def forward(self, image: Tensor) -> Tensor:
        x = torch.relu(self.norms[0](self.first(F.pad(image, [4] * 4, "reflect"))))
        x = torch.relu(self.norms[1](self.down(F.pad(x, [1] * 4, "reflect"))))
        x = F.pad(F.interpolate(x, scale_factor=2), [1] * 4, "reflect")
        x = torch.relu(self.norms[2](self.up(x)))
        return self.last(F.pad(x, [4] * 4, "reflect"))


class Mixer(nn.Module):
    """Linear layers across patches and across channels (Tolstikhin et al., 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 8, 8)
        self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(3))
        self.tokens, self.channels = (
            nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(2)
        )
        self.head = nn.Linear(16, 10)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        x = x + self.channels(self.norms[1](x))
        return self.head(self.norms[2](x).mean(1))


class Perceiver(nn.Module):
    """Learned queries that attend to any number of inputs (Jaegle et al., 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(6, 16))
        self.cross = nn.MultiheadAttention(16, 2, kdim=9, vdim=9, batch_first=True)
        self.own = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
        self.out = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        latents = self.latents.expand(x.shape[0], -1, -1)
        found = self.own(latents + self.cross(latents, x, x, need_weights=False)[0])
        return self.out(found.mean(1))


class StateSpace(nn.Module):
    """A selective scan, as sums of decays between all pairs (Mamba-2, Dao and Gu, 2024)."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.spread = nn.Linear(8, 33), nn.Conv1d(16, 16, 4, groups=16)
        self.keys, self.out = nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        u, gate, step = self.enter(x).split([16, 16, 1], -1)
        u = F.silu(self.spread(F.pad(u.transpose(1, 2), (3, 0)))).transpose(1, 2)
        b, c = self.keys(u).chunk(2, -1)
        total = torch.cumsum(-F.softplus(step.squeeze(-1)), 1)
        decays = torch.exp((total[:, :, None] - total[:, None]).clamp(max=0)).tril()
        y = ((c @ b.transpose(1, 2)) * decays) @ u
        return self.out(y * F.silu(gate))


class Clicks(nn.Module):
    """Embeddings of categories, and their products with each other (DLRM, Naumov et al., 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.tables = nn.ModuleList(nn.Embedding(50, 8) for _ in range(3))
        self.top = nn.Sequential(nn.Linear(14, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
        self.register_buffer("pairs", torch.tril_indices(4, 4, -1))

    def forward(self, dense: Tensor, categories: Tensor) -> Tensor:
        x = self.bottom(dense)
        rows = [table(categories[:, i]) for i, table in enumerate(self.tables)]
        all_rows = torch.stack([x, *rows], 1)
        products = torch.bmm(all_rows, all_rows.transpose(1, 2))
        return self.top(torch.cat([x, products[:, self.pairs[0], self.pairs[1]]], 1))


def _spoken(draw: Draw) -> dict[str, Tensor]:
    batch = draw(2, 4)
    text = torch.randint(0, 50, (batch, draw(2, 15)))
    return {"sound": torch.randn(batch, 20, 2 * draw(3, 30)), "text": text}


def _graph(draw: Draw) -> dict[str, Tensor]:
    nodes = draw(3, 20)
    return {"nodes": torch.randn(nodes, 5), "edges": torch.randint(0, nodes, (2, draw(2, 40)))}


def _diffused(draw: Draw) -> dict[str, Tensor]:
    image = image_of(3, 2)(draw)["image"]
    return {"image": image, "step": torch.randint(0, 1000, image.shape[:1])}


def _noisy(draw: Draw) -> dict[str, Tensor]:
    batch = draw(2, 9)
    return {"x": torch.rand(batch, 20), "noise": torch.randn(batch, 4)}


def _clicked(draw: Draw) -> dict[str, Tensor]:
    batch = draw(2, 40)
    return {"dense": torch.randn(batch, 6), "categories": torch.randint(0, 50, (batch, 3))}


SIGNALS: dict[str, OpenNetwork] = {
    "Whisper": OpenNetwork(Whisper, _spoken, ("sound.1",)),
    "Conformer": OpenNetwork(
        Conformer, lambda draw: {"sound": torch.randn(draw(2, 4), draw(6, 60), 20)}, ("sound.2",)
    ),
    "WaveNet": OpenNetwork(
        WaveNet, lambda draw: {"sound": torch.randn(draw(2, 4), 1, draw(2, 80))}, ("sound.1",)
    ),
    "spectrogram": OpenNetwork(
        Spectrogram, lambda draw: {"sound": torch.randn(draw(2, 4), draw(40, 300))}
    ),
    "PointNet": OpenNetwork(
        PointNet, lambda draw: {"points": torch.randn(draw(2, 4), 3, draw(4, 60))}, ("points.1",)
    ),
    "graph attention": OpenNetwork(GraphAttention, _graph, ("nodes.1", "edges.0")),
    "diffusion": OpenNetwork(Diffusion, _diffused, ("image.1",)),
    "VAE": OpenNetwork(Variational, _noisy, ("x.1", "noise.1")),
    "DCGAN": OpenNetwork(
        Generator, lambda draw: {"noise": torch.randn(draw(2, 9), 16)}, ("noise.1",)
    ),
    "style transfer": OpenNetwork(Style, image_of(3, 2, 4), ("image.1",)),
    "Mixer": OpenNetwork(
        Mixer,
        lambda draw: {"image": torch.randn(draw(2, 9), 3, 32, 32)},
        ("image.1", "image.2", "image.3"),
    ),
    "Perceiver": OpenNetwork(
        Perceiver, lambda draw: {"x": torch.randn(draw(2, 4), draw(2, 50), 9)}, ("x.2",)
    ),
    "Mamba": OpenNetwork(
        StateSpace, lambda draw: {"x": torch.randn(draw(2, 4), draw(2, 40), 8)}, ("x.2",)
    ),
    "DLRM": OpenNetwork(Clicks, _clicked, ("dense.1", "categories.1")),
}
