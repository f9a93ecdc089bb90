"""PyTorch definitions of the benchmark networks, with seeded, calibrated weights.

The architectures follow the papers named at each class, or are those of torchvision. None needs a
download.
Weights are drawn from one seed. The running statistics of every batch norm are measured on random
images and then disturbed, so that a batch norm that is folded wrongly changes the outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import classifiers
import torch
from classifiers import conv_bn
from torch import Tensor, nn
from torch.nn import functional as F

IMAGE_SIZE = 224
TOKENS = 128


class Attention(nn.Module):
    """Multi-head self-attention; `mask` is added to the scores."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        batch, tokens, dim = x.shape
        qkv = self.qkv(x).reshape(batch, tokens, 3, self.heads, dim // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-1, -2) * (dim // self.heads) ** -0.5
        if mask is not None:
            scores = scores + mask
        x = torch.softmax(scores, -1) @ v
        return self.out(x.transpose(1, 2).reshape(batch, tokens, dim))


class EncoderLayer(nn.Module):
    """A transformer encoder layer, normalised before (ViT) or after (BERT) each part."""

    def __init__(self, dim: int, heads: int, hidden: int, norm_first: bool) -> None:
        super().__init__()
        self.attention = Attention(dim, heads)
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))
        self.norm_first = norm_first

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.mlp(x))


class VisionTransformer(nn.Module):
    """ViT-tiny (arXiv 2010.11929) cut to four layers: patch 16, width 192, 3 heads."""

    def __init__(self, size: int, dim: int = 192, depth: int = 4, heads: int = 3) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 16, 16)
        self.token = nn.Parameter(torch.randn(1, 1, dim))
        self.position = nn.Parameter(torch.randn(1, (size // 16) ** 2 + 1, dim))
        self.layers = nn.ModuleList(
            [EncoderLayer(dim, heads, 4 * dim, norm_first=True) for _ in range(depth)]
        )
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.head = nn.Linear(dim, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


class RowLSTM(nn.Module):
    """Reads an image of 7 x 7 means row by row: a projection, an LSTM, a classifier."""

    def __init__(self, dim: int = 128, rows: int = 32) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(rows)
        self.project = nn.Linear(3 * rows, dim)
        self.lstm = nn.LSTM(dim, dim)
        self.head = nn.Linear(dim, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.pool(x).permute(2, 0, 1, 3).flatten(2)
        states, _ = self.lstm(torch.relu(self.project(rows)))
        return self.head(states[-1])


class TextEncoder(nn.Module):
    """A BERT-like encoder of two layers: token embedding, attention mask, pooled output."""

    def __init__(self, dim: int = 512, depth: int = 2, heads: int = 8, words: int = 8192) -> None:
        super().__init__()
        self.words = nn.Embedding(words, dim)
        self.position = nn.Parameter(torch.randn(1, TOKENS, dim))
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.layers = nn.ModuleList(
            [EncoderLayer(dim, heads, 4 * dim, norm_first=False) for _ in range(depth)]
        )
        self.pooler = nn.Linear(dim, dim)

    def forward(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        bias = (1.0 - mask[:, None, None, :].to(torch.float32)) * -10000.0
        x = self.norm(self.words(tokens) + self.position)
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


class CrossStage(nn.Module):
    """A cross-stage-partial block: half of the channels pass through residual blocks."""

    def __init__(self, channels: int, repeats: int) -> None:
        super().__init__()
        half = channels // 2
        self.left = conv_bn(channels, half, 1, act=nn.SiLU)
        self.right = conv_bn(channels, half, 1, act=nn.SiLU)
        self.blocks = nn.ModuleList(
            [
                nn.Sequential(
                    conv_bn(half, half, 1, act=nn.SiLU), conv_bn(half, half, 3, act=nn.SiLU)
                )
                for _ in range(repeats)
            ]
        )
        self.out = conv_bn(channels, channels, 1, act=nn.SiLU)

    def forward(self, x: Tensor) -> Tensor:
        y = self.left(x)
        for block in self.blocks:
            y = y + block(y)
        return self.out(torch.cat([y, self.right(x)], 1))


class DetectionHead(nn.Conv2d):
    """A convolution whose logits are of order one, where a sigmoid is not flat."""

    gain = 0.1


class Yolo(nn.Module):
    """A small YOLO-like detector: three strides, 3 anchors x (80 classes + 5) channels each."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        down: Callable[[int, int], nn.Module] = lambda i, o: conv_bn(i, o, 3, 2, act=nn.SiLU)  # noqa: E731
        w = width
        self.stem = nn.Sequential(down(3, w), down(w, 2 * w), CrossStage(2 * w, 1))
        self.stage3 = nn.Sequential(down(2 * w, 4 * w), CrossStage(4 * w, 2))
        self.stage4 = nn.Sequential(down(4 * w, 8 * w), CrossStage(8 * w, 2))
        self.stage5 = nn.Sequential(down(8 * w, 16 * w), CrossStage(16 * w, 1))
        self.pools = nn.ModuleList([nn.MaxPool2d(5, 1, 2) for _ in range(3)])
        self.mix5 = conv_bn(64 * w, 8 * w, 1, act=nn.SiLU)
        self.mix4 = conv_bn(16 * w, 4 * w, 1, act=nn.SiLU)
        self.mix3 = conv_bn(8 * w, 4 * w, 3, act=nn.SiLU)
        self.heads = nn.ModuleList([DetectionHead(c * w, 255, 1) for c in (4, 4, 8)])

    def forward(self, x: Tensor) -> Tensor:
        c3 = self.stage3(self.stem(x))
        c4 = self.stage4(c3)
        pyramid = [self.stage5(c4)]
        for pool in self.pools:
            pyramid.append(pool(pyramid[-1]))
        p5 = self.mix5(torch.cat(pyramid, 1))
        p4 = self.mix4(torch.cat([F.interpolate(p5, scale_factor=2.0, mode="nearest"), c4], 1))
        p3 = self.mix3(torch.cat([F.interpolate(p4, scale_factor=2.0, mode="nearest"), c3], 1))
        boxes = []
        for head, p in zip(self.heads, (p3, p4, p5), strict=True):
            y = head(p)
            batch, _, height, width = y.shape
            y = y.reshape(batch, 3, 85, height, width).permute(0, 1, 3, 4, 2)
            boxes.append(torch.sigmoid(y).reshape(batch, -1, 85))
        return torch.cat(boxes, 1)


class UNet(nn.Module):
    """A U-Net (arXiv 1505.04597) with two transposed convolutions and one bilinear resize."""

    def __init__(self, width: int = 16, classes: int = 4) -> None:
        super().__init__()
        w = width
        double: Callable[[int, int], nn.Module] = lambda i, o: nn.Sequential(  # noqa: E731
            conv_bn(i, o), conv_bn(o, o)
        )
        self.enc = nn.ModuleList([double(3, w), double(w, 2 * w), double(2 * w, 4 * w)])
        self.bottom = double(4 * w, 8 * w)
        self.up2 = nn.ConvTranspose2d(8 * w, 4 * w, 2, 2)
        self.up1 = nn.ConvTranspose2d(4 * w, 2 * w, 4, 2, 1)
        self.up0 = nn.Conv2d(2 * w, w, 1)
        self.dec = nn.ModuleList([double(2 * w, w), double(4 * w, 2 * w), double(8 * w, 4 * w)])
        self.head = nn.Conv2d(w, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        e0 = self.enc[0](x)
        e1 = self.enc[1](F.max_pool2d(e0, 2))
        e2 = self.enc[2](F.max_pool2d(e1, 2))
        x = self.bottom(F.max_pool2d(e2, 2))
        x = self.dec[2](torch.cat([self.up2(x), e2], 1))
        x = self.dec[1](torch.cat([self.up1(x), e1], 1))
        x = F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.head(self.dec[0](torch.cat([self.up0(x), e0], 1)))


@dataclass(frozen=True)
class Network:
    """A benchmark network: its constructor for an image size, and whether it reads text."""

    build: Callable[[int], nn.Module]
    text: bool = False
    calibration_size: int = 64
    """The size of calibration images for batch norms; larger for networks without padding."""

    def inputs(self, size: int, batch: int = 1, seed: int = 0) -> dict[str, Tensor]:
        """Seeded inputs by name."""
        generator = torch.Generator().manual_seed(seed)
        if not self.text:
            return {"image": torch.randn(batch, 3, size, size, generator=generator)}
        tokens = torch.randint(0, 8192, (batch, TOKENS), generator=generator)
        mask = (torch.arange(TOKENS)[None, :] < TOKENS - 28).to(torch.int64).expand(batch, -1)
        return {"tokens": tokens, "mask": mask.contiguous()}


def _from_torchvision(name: str) -> Network:
    def build(_: int) -> nn.Module:
        from cpu_torchvision import torchvision

        return torchvision.models.get_model(name, weights=None)

    return Network(build)


NETWORKS: dict[str, Network] = {
    "mobilenet_v1": Network(lambda _: classifiers.mobilenet_v1()),
    "mobilenet_v2": Network(lambda _: classifiers.mobilenet_v2()),
    "mobilenet_v3_small": Network(lambda _: classifiers.mobilenet_v3_small()),
    "resnet18": Network(lambda _: classifiers.resnet((2, 2, 2, 2), bottleneck=False)),
    "resnet50": Network(lambda _: classifiers.resnet((3, 4, 6, 3), bottleneck=True)),
    "vgg19": Network(classifiers.vgg19),
    "squeezenet1_1": Network(lambda _: classifiers.squeezenet1_1()),
    "efficientnet_lite0": Network(lambda _: classifiers.efficientnet_lite0()),
    "vit_tiny": Network(VisionTransformer),
    "text_encoder": Network(lambda _: TextEncoder(), text=True),
    "lstm": Network(lambda _: RowLSTM()),
    "yolo": Network(lambda _: Yolo()),
    "unet": Network(lambda _: UNet()),
    "densenet121": Network(lambda _: classifiers.densenet121()),
    "inception_v3": Network(lambda _: classifiers.inception_v3(), calibration_size=299),
    "swin_t": _from_torchvision("swin_t"),
    "convnext_tiny": _from_torchvision("convnext_tiny"),
    "regnet_y_400mf": _from_torchvision("regnet_y_400mf"),
}


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        module.weight.data *= getattr(module, "gain", 1.0)
    elif isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=module.in_features**-0.5)
    elif isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
        nn.init.uniform_(module.weight, 0.5, 1.5)
        nn.init.normal_(module.bias, std=0.2)
        return
    bias = getattr(module, "bias", None)
    if isinstance(bias, Tensor):
        nn.init.normal_(bias, std=0.1)


def build(name: str, size: int = IMAGE_SIZE, seed: int = 0) -> nn.Module:
    """Return the named network in eval mode, seeded, with outputs of order one."""
    torch.manual_seed(seed)
    network = NETWORKS[name]
    model = network.build(size)
    model.apply(_initialise)
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    if norms:
        for norm in norms:
            norm.momentum = None
        with torch.no_grad():
            images = network.inputs(network.calibration_size, batch=8, seed=seed + 1)
            model.train()(images["image"])
            for norm in norms:
                mean, var = norm.running_mean, norm.running_var
                assert mean is not None
                assert var is not None
                mean += 0.1 * var.sqrt() * torch.randn_like(mean)
                var *= torch.empty_like(var).uniform_(0.8, 1.25)
    return model.eval()
