"""Convolutional classifiers among the benchmark networks; each cites its paper."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def conv_bn(
    cin: int,
    cout: int,
    kernel: int = 3,
    stride: int = 1,
    groups: int = 1,
    act: type[nn.Module] | None = nn.ReLU,
) -> nn.Sequential:
    """Return a convolution with `same` padding for odd kernels, a batch norm and an activation."""
    layers: list[nn.Module] = [
        nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(cout),
    ]
    if act is not None:
        layers.append(act())
    return nn.Sequential(*layers)


class Classifier(nn.Module):
    """Global average pooling and a linear layer on top of a feature extractor."""

    def __init__(self, features: nn.Module, channels: int, classes: int = 1000) -> None:
        super().__init__()
        self.features = features
        self.head: nn.Module = nn.Linear(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = F.adaptive_avg_pool2d(self.features(x), 1)
        return self.head(torch.flatten(x, 1))


def mobilenet_v1() -> nn.Module:
    """MobileNetV1, width 1.0 (arXiv 1704.04861, table 1)."""
    rows = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
    rows += [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    layers: list[nn.Module] = [conv_bn(3, 32, 3, 2)]
    cin = 32
    for cout, stride in rows:
        layers += [conv_bn(cin, cin, 3, stride, groups=cin), conv_bn(cin, cout, 1)]
        cin = cout
    return Classifier(nn.Sequential(*layers), cin)


class InvertedResidual(nn.Module):
    """Expand, depthwise, project; with the identity added where the shapes agree."""

    def __init__(self, cin: int, cout: int, stride: int, expand: int, kernel: int = 3) -> None:
        super().__init__()
        hidden = cin * expand
        self.residual = stride == 1 and cin == cout
        layers: list[nn.Module] = []
        if expand != 1:
            layers.append(conv_bn(cin, hidden, 1, act=nn.ReLU6))
        layers.append(conv_bn(hidden, hidden, kernel, stride, groups=hidden, act=nn.ReLU6))
        layers.append(conv_bn(hidden, cout, 1, act=None))
        self.body = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.residual else self.body(x)


def inverted_residuals(rows: list[tuple[int, int, int, int, int]]) -> nn.Module:
    """Build inverted residuals; a row is (expansion, channels, repeats, stride, kernel)."""
    layers: list[nn.Module] = [conv_bn(3, 32, 3, 2, act=nn.ReLU6)]
    cin = 32
    for expand, cout, repeats, stride, kernel in rows:
        for i in range(repeats):
            layers.append(InvertedResidual(cin, cout, stride if i == 0 else 1, expand, kernel))
            cin = cout
    layers.append(conv_bn(cin, 1280, 1, act=nn.ReLU6))
    return Classifier(nn.Sequential(*layers), 1280)


def mobilenet_v2() -> nn.Module:
    """MobileNetV2, width 1.0 (arXiv 1801.04381, table 2)."""
    return inverted_residuals(
        [
            (1, 16, 1, 1, 3),
            (6, 24, 2, 2, 3),
            (6, 32, 3, 2, 3),
            (6, 64, 4, 2, 3),
            (6, 96, 3, 1, 3),
            (6, 160, 3, 2, 3),
            (6, 320, 1, 1, 3),
        ]
    )


class SqueezeExcite(nn.Module):
    """Scales each channel by a gate that two 1x1 convolutions compute from the channels' means."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, hidden, 1)
        self.excite = nn.Conv2d(hidden, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        gate = F.relu(self.squeeze(F.adaptive_avg_pool2d(x, 1)))
        return x * F.hardsigmoid(self.excite(gate))


class GatedResidual(nn.Module):
    """MobileNetV3's inverted residual, with its own activation and optional squeeze-and-excite."""

    def __init__(
        self,
        cin: int,
        hidden: int,
        cout: int,
        kernel: int,
        stride: int,
        gated: bool,
        act: type[nn.Module],
    ) -> None:
        super().__init__()
        self.residual = stride == 1 and cin == cout
        layers: list[nn.Module] = []
        if hidden != cin:
            layers.append(conv_bn(cin, hidden, 1, act=act))
        layers.append(conv_bn(hidden, hidden, kernel, stride, groups=hidden, act=act))
        if gated:
            # A quarter of the channels, rounded to whole eights, never down by more than a tenth.
            squeezed = max(8, (hidden // 4 + 4) // 8 * 8)
            squeezed += 8 * (squeezed < 0.9 * hidden / 4)
            layers.append(SqueezeExcite(hidden, squeezed))
        layers.append(conv_bn(hidden, cout, 1, act=None))
        self.body = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.residual else self.body(x)


def mobilenet_v3_small() -> nn.Module:
    """MobileNetV3-Small, width 1.0 (arXiv 1905.02244, table 2)."""
    relu, swish = nn.ReLU, nn.Hardswish
    rows: list[tuple[int, int, int, bool, type[nn.Module], int]] = [
        (3, 16, 16, True, relu, 2),
        (3, 72, 24, False, relu, 2),
        (3, 88, 24, False, relu, 1),
        (5, 96, 40, True, swish, 2),
        (5, 240, 40, True, swish, 1),
        (5, 240, 40, True, swish, 1),
        (5, 120, 48, True, swish, 1),
        (5, 144, 48, True, swish, 1),
        (5, 288, 96, True, swish, 2),
        (5, 576, 96, True, swish, 1),
        (5, 576, 96, True, swish, 1),
    ]
    layers: list[nn.Module] = [conv_bn(3, 16, 3, 2, act=swish)]
    cin = 16
    for kernel, hidden, cout, gated, act, stride in rows:
        layers.append(GatedResidual(cin, hidden, cout, kernel, stride, gated, act))
        cin = cout
    layers.append(conv_bn(cin, 576, 1, act=swish))
    classifier = Classifier(nn.Sequential(*layers), 576)
    classifier.head = nn.Sequential(nn.Linear(576, 1024), swish(), nn.Linear(1024, 1000))
    return classifier


def efficientnet_lite0() -> nn.Module:
    """EfficientNet-lite0: EfficientNet-B0 without squeeze-and-excite, with ReLU6."""
    return inverted_residuals(
        [
            (1, 16, 1, 1, 3),
            (6, 24, 2, 2, 3),
            (6, 40, 2, 2, 5),
            (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5),
            (6, 192, 4, 2, 5),
            (6, 320, 1, 1, 3),
        ]
    )


class ResidualBlock(nn.Module):
    """A basic (two 3x3) or bottleneck (1x1, 3x3, 1x1) residual block."""

    def __init__(self, cin: int, width: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        cout = width * 4 if bottleneck else width
        if bottleneck:
            self.body = nn.Sequential(
                conv_bn(cin, width, 1),
                conv_bn(width, width, 3, stride),
                conv_bn(width, cout, 1, act=None),
            )
        else:
            self.body = nn.Sequential(
                conv_bn(cin, width, 3, stride), conv_bn(width, cout, 3, act=None)
            )
        same = stride == 1 and cin == cout
        self.shortcut = nn.Identity() if same else conv_bn(cin, cout, 1, stride, act=None)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.body(x) + self.shortcut(x))


def resnet(repeats: tuple[int, int, int, int], bottleneck: bool) -> nn.Module:
    """ResNet (arXiv 1512.03385, table 1), stride on the 3x3 of a bottleneck."""
    layers: list[nn.Module] = [conv_bn(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    cin = 64
    for stage, count in enumerate(repeats):
        for i in range(count):
            stride = 2 if stage > 0 and i == 0 else 1
            layers.append(ResidualBlock(cin, 64 << stage, stride, bottleneck))
            cin = (64 << stage) * (4 if bottleneck else 1)
    return Classifier(nn.Sequential(*layers), cin)


def vgg19(size: int) -> nn.Module:
    """VGG-19 (arXiv 1409.1556, table 1, column E), for images of `size` x `size`."""
    layers: list[nn.Module] = []
    cin = 3
    for cout, repeats in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(repeats):
            layers += [nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU()]
            cin = cout
        layers.append(nn.MaxPool2d(2))
    layers += [nn.Flatten(1), nn.Linear(cin * (size // 32) ** 2, 4096), nn.ReLU()]
    layers += [nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers)


class Fire(nn.Module):
    """SqueezeNet's fire module: a 1x1 squeeze, then 1x1 and 3x3 in parallel."""

    def __init__(self, cin: int, squeeze: int, expand: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(cin, squeeze, 1)
        self.expand1 = nn.Conv2d(squeeze, expand, 1)
        self.expand3 = nn.Conv2d(squeeze, expand, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.expand1(x)), F.relu(self.expand3(x))], 1)


def squeezenet1_1() -> nn.Module:
    """SqueezeNet 1.1 (arXiv 1602.07360); its poolings use ceil_mode."""
    pool: Callable[[], nn.Module] = lambda: nn.MaxPool2d(3, 2, ceil_mode=True)  # noqa: E731
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 2),
        nn.ReLU(),
        pool(),
        Fire(64, 16, 64),
        Fire(128, 16, 64),
        pool(),
        Fire(128, 32, 128),
        Fire(256, 32, 128),
        pool(),
        Fire(256, 48, 192),
        Fire(384, 48, 192),
        Fire(384, 64, 256),
        Fire(512, 64, 256),
        nn.Conv2d(512, 1000, 1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(1),
    )


class DenseLayer(nn.Module):
    """Norm first: a 1x1 bottleneck, then a 3x3 that appends its channels to the input's."""

    def __init__(self, cin: int, growth: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm2d(cin),
            nn.ReLU(),
            conv_bn(cin, 4 * growth, 1),
            nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], 1)


def densenet121(growth: int = 32) -> nn.Module:
    """DenseNet-121 (arXiv 1608.06993, table 1), with bottlenecks and compression by half."""
    cin = 2 * growth
    layers: list[nn.Module] = [conv_bn(3, cin, 7, 2), nn.MaxPool2d(3, 2, 1)]
    for block, repeats in enumerate((6, 12, 24, 16)):
        if block > 0:
            layers += [nn.BatchNorm2d(cin), nn.ReLU(), nn.Conv2d(cin, cin // 2, 1, bias=False)]
            layers.append(nn.AvgPool2d(2))
            cin //= 2
        for _ in range(repeats):
            layers.append(DenseLayer(cin, growth))
            cin += growth
    return Classifier(nn.Sequential(*layers, nn.BatchNorm2d(cin), nn.ReLU()), cin)


class Branches(nn.Module):
    """Several branches of one input, with concatenated channels."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


def conv_chain(cin: int, *rows: tuple[int, tuple[int, int]]) -> nn.Sequential:
    """Convolutions of (channels, kernel), `same` padding, each with a batch norm and ReLU."""
    layers: list[nn.Module] = []
    for cout, kernel in rows:
        padding = (kernel[0] // 2, kernel[1] // 2)
        layers += [
            nn.Conv2d(cin, cout, kernel, padding=padding, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(),
        ]
        cin = cout
    return nn.Sequential(*layers)


def conv_valid(cin: int, cout: int, stride: int) -> nn.Sequential:
    """Return a 3x3 convolution without padding, a batch norm and ReLU."""
    conv = nn.Conv2d(cin, cout, 3, stride, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(cout), nn.ReLU())


def inception_v3() -> nn.Module:
    """Return Inception-v3 (arXiv 1512.00567, table 1) without its auxiliary head, for 299x299.

    The channels of the mixed blocks follow the authors' published model, because the paper omits
    them.
    """
    one, three, five, row, column = (1, 1), (3, 3), (5, 5), (1, 7), (7, 1)
    pooled: Callable[[int, int], nn.Module] = lambda cin, cout: nn.Sequential(  # noqa: E731
        nn.AvgPool2d(3, 1, 1), conv_chain(cin, (cout, one))
    )
    layers: list[nn.Module] = [conv_valid(3, 32, 2), conv_valid(32, 32, 1)]
    layers += [conv_chain(32, (64, three)), nn.MaxPool2d(3, 2)]
    layers += [conv_chain(64, (80, one)), conv_valid(80, 192, 1), nn.MaxPool2d(3, 2)]
    for cin, proj in ((192, 32), (256, 64), (288, 64)):
        fives = conv_chain(cin, (48, one), (64, five))
        threes = conv_chain(cin, (64, one), (96, three), (96, three))
        layers.append(Branches(conv_chain(cin, (64, one)), fives, threes, pooled(cin, proj)))
    double = nn.Sequential(conv_chain(288, (64, one), (96, three)), conv_valid(96, 96, 2))
    layers.append(Branches(conv_valid(288, 384, 2), double, nn.MaxPool2d(3, 2)))
    for mid in (128, 160, 160, 192):
        once = conv_chain(768, (mid, one), (mid, row), (192, column))
        twice = conv_chain(768, (mid, one), (mid, column), (mid, row), (mid, column), (192, row))
        layers.append(Branches(conv_chain(768, (192, one)), once, twice, pooled(768, 192)))
    short = nn.Sequential(conv_chain(768, (192, one)), conv_valid(192, 320, 2))
    long = conv_chain(768, (192, one), (192, row), (192, column))
    layers.append(Branches(short, nn.Sequential(long, conv_valid(192, 192, 2)), nn.MaxPool2d(3, 2)))
    for cin in (1280, 2048):
        fork: Callable[[int], nn.Module] = lambda c: Branches(  # noqa: E731
            conv_chain(c, (384, (1, 3))), conv_chain(c, (384, (3, 1)))
        )
        threes = nn.Sequential(conv_chain(cin, (384, one)), fork(384))
        deep = nn.Sequential(conv_chain(cin, (448, one), (384, three)), fork(384))
        layers.append(Branches(conv_chain(cin, (320, one)), threes, deep, pooled(cin, 192)))
    return Classifier(nn.Sequential(*layers), 2048)
