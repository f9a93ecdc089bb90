"""Vision networks of torchvision, with few blocks and channels, whose sizes stay open.

The number of blocks and their widths are cut, so that a program compiles in seconds. The operators
that the exporters write are those of the whole networks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import cpu_torchvision  # noqa: F401  (first)
import torch
from open_networks import Draw, OpenNetwork, image_of
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models import (
    densenet,
    efficientnet,
    inception,
    maxvit,
    mnasnet,
    mobilenetv2,
    mobilenetv3,
    optical_flow,
    regnet,
    resnet,
    shufflenetv2,
    squeezenet,
    swin_transformer,
    vgg,
    vision_transformer,
)
from torchvision.models.convnext import CNBlockConfig, ConvNeXt
from torchvision.models.detection.fcos import FCOSHead
from torchvision.models.googlenet import BasicConv2d, Inception
from torchvision.models.segmentation.deeplabv3 import DeepLabHead
from torchvision.models.segmentation.fcn import FCNHead
from torchvision.models.segmentation.lraspp import LRASPP
from torchvision.models.video.resnet import BasicBlock, BasicStem, Conv3DSimple, VideoResNet
from torchvision.models.video.s3d import SepInceptionBlock3D
from torchvision.ops import FeaturePyramidNetwork


class Pooled(nn.Module):
    """A classifier: features, their means, and a linear layer."""

    def __init__(self, features: nn.Module, channels: int) -> None:
        super().__init__()
        self.features, self.head = features, nn.Linear(channels, 10)

    def forward(self, image: Tensor) -> Tensor:
        return self.head(self.features(image).mean((2, 3)))


class Mapped(nn.Module):
    """A map of classes with the image's size, from features of a stride of 8."""

    def __init__(self, head: nn.Module, channels: int) -> None:
        super().__init__()
        self.backbone = _features(channels)
        self.head = head

    def forward(self, image: Tensor) -> Tensor:
        x = self.head(self.backbone(image))
        return F.interpolate(x, size=image.shape[-2:], mode="bilinear", align_corners=False)


class Pyramid(nn.Module):
    """A detector's heads over a feature pyramid (FCOS, Tian et al., 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, 4, 1), nn.Conv2d(8, 16, 3, 2, 1)
        self.pyramid = FeaturePyramidNetwork([8, 16], 32)
        self.head = FCOSHead(32, 1, 3, num_convs=1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        fine = torch.relu(self.first(image))
        levels = self.pyramid({"fine": fine, "coarse": torch.relu(self.second(fine))})
        found = self.head(list(levels.values()))
        return found["cls_logits"], found["bbox_regression"], found["bbox_ctrness"]


class Segmenter(nn.Module):
    """The tensor of a network of torchvision that returns a dictionary."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, image: Tensor) -> Tensor:
        return self.network(image)["out"]


class TwoScales(nn.Module):
    """Features of two strides by name, as LRASPP expects."""

    def __init__(self) -> None:
        super().__init__()
        self.low, self.high = nn.Conv2d(3, 8, 3, 4, 1), nn.Conv2d(8, 16, 3, 2, 1)

    def forward(self, image: Tensor) -> dict[str, Tensor]:
        low = torch.relu(self.low(image))
        return {"low": low, "high": torch.relu(self.high(low))}


class Flow(nn.Module):
    """Optical flow by two updates from correlations (RAFT, Teed and Deng, 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.network = optical_flow.raft_small()

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        return self.network(first, second, num_flow_updates=2)[-1]


class VideoFeatures(nn.Module):
    """Separable 3D convolutions in parallel branches (S3D, Xie et al., 2018)."""

    def __init__(self) -> None:
        super().__init__()
        norm = partial(nn.BatchNorm3d, eps=1e-3)
        self.stem = nn.Conv3d(3, 16, (1, 3, 3), (1, 2, 2), (0, 1, 1))
        self.block = SepInceptionBlock3D(16, 8, 4, 8, 4, 8, 8, norm)
        self.head = nn.Linear(32, 5)

    def forward(self, video: Tensor) -> Tensor:
        return self.head(self.block(torch.relu(self.stem(video))).mean((2, 3, 4)))


def _features(channels: int) -> nn.Module:
    layers = (nn.Conv2d(3, 8, 3, 4, 1), nn.ReLU(), nn.Conv2d(8, channels, 3, 2, 1), nn.ReLU())
    return nn.Sequential(*layers)


def _regnet() -> nn.Module:
    blocks = regnet.BlockParams([1, 1], [16, 32], [8, 8], [1.0, 1.0], [2, 2], 0.25)
    return regnet.RegNet(blocks, num_classes=10)


def _efficientnet() -> nn.Module:
    blocks = (
        efficientnet.FusedMBConvConfig(2, 3, 2, 8, 16, 1),
        efficientnet.MBConvConfig(4, 5, 2, 16, 24, 2),
    )
    return efficientnet.EfficientNet(blocks, 0.0, num_classes=10, last_channel=32)


def _convnext() -> nn.Module:
    return ConvNeXt([CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 1)], num_classes=10)


def _swin(version: int) -> nn.Module:
    blocks = {
        1: (swin_transformer.SwinTransformerBlock, swin_transformer.PatchMerging),
        2: (swin_transformer.SwinTransformerBlockV2, swin_transformer.PatchMergingV2),
    }
    block, merging = blocks[version]
    return swin_transformer.SwinTransformer(
        *([4, 4], 16, [2, 2], [1, 2], [4, 4]),
        num_classes=10,
        block=block,
        downsample_layer=merging,
    )


def _vision_transformer() -> nn.Module:
    return vision_transformer.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=10)


def _maxvit() -> nn.Module:
    return maxvit.MaxVit((32, 32), 8, 4, [8, 16], [1, 1], 8, 0.0, num_classes=10)


def _densenet() -> nn.Module:
    return densenet.DenseNet(8, (2, 2), 16, num_classes=10)


def _inception() -> nn.Module:
    stem = inception.BasicConv2d(3, 32, kernel_size=3, stride=2)
    blocks = (inception.InceptionA(32, 8), inception.InceptionB(232))
    return Pooled(nn.Sequential(stem, *blocks), 712)


def _googlenet() -> nn.Module:
    stem = BasicConv2d(3, 16, kernel_size=7, stride=2, padding=3)
    pool = nn.MaxPool2d(3, 2, ceil_mode=True)
    block = Inception(16, 8, 4, 8, 4, 8, 8)
    return Pooled(nn.Sequential(stem, pool, block), 32)


def _shufflenet() -> nn.Module:
    return shufflenetv2.ShuffleNetV2([2, 1, 1], [8, 16, 32, 64, 64], num_classes=10)


def _mobilenet_v2() -> nn.Module:
    setting = [[1, 8, 1, 1], [4, 16, 2, 2]]
    return mobilenetv2.MobileNetV2(10, 0.25, setting)


def _mobilenet_v3() -> nn.Module:
    blocks = [
        mobilenetv3.InvertedResidualConfig(16, 3, 16, 16, True, "RE", 2, 1, 1.0),
        mobilenetv3.InvertedResidualConfig(16, 5, 32, 24, True, "HS", 2, 1, 1.0),
    ]
    return mobilenetv3.MobileNetV3(blocks, 32, num_classes=10)


def _mnasnet() -> nn.Module:
    layers = mnasnet.MNASNet(0.35).layers[:9]
    return Pooled(layers, 8)


def _squeezenet() -> nn.Module:
    pool = nn.MaxPool2d(3, 2, ceil_mode=True)
    fires = (squeezenet.Fire(16, 4, 8, 8), squeezenet.Fire(16, 4, 8, 8))
    return Pooled(nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), pool, *fires), 16)


def _vgg() -> nn.Module:
    return Pooled(vgg.make_layers([8, "M", 16, "M"], batch_norm=True), 16)


def _lraspp() -> nn.Module:
    return Segmenter(LRASPP(TwoScales(), 8, 16, 3, 16))


def _bottlenecks() -> nn.Module:
    return resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1], 10, groups=8, width_per_group=4)


def _video() -> nn.Module:
    layers = [Conv3DSimple] * 4
    return VideoResNet(BasicBlock, layers, [1, 1, 1, 1], BasicStem, num_classes=5)


def _frames(draw: Draw) -> dict[str, Tensor]:
    size = (draw(2, 3), 3, 2 * draw(2, 5), 4 * draw(4, 8), 4 * draw(4, 8))
    return {"video": torch.randn(size)}


def _two_images(draw: Draw) -> dict[str, Tensor]:
    size = (draw(2, 3), 3, 8 * draw(16, 18), 8 * draw(16, 18))
    return {"first": torch.rand(size), "second": torch.rand(size)}


def _square(size: int) -> Callable[[Draw], dict[str, Tensor]]:
    return lambda draw: {"image": torch.randn(draw(2, 8), 3, size, size)}


_CHANNELS = ("image.1",)
_FIXED = ("image.1", "image.2", "image.3")

VISION: dict[str, OpenNetwork] = {
    "ResNet, bottlenecks": OpenNetwork(_bottlenecks, image_of(3, 8, 4), _CHANNELS),
    "RegNet": OpenNetwork(_regnet, image_of(3, 4, 4), _CHANNELS),
    "EfficientNet": OpenNetwork(_efficientnet, image_of(3, 4, 4), _CHANNELS),
    "ConvNeXt": OpenNetwork(_convnext, image_of(3, 8), _CHANNELS),
    "Swin": OpenNetwork(partial(_swin, 1), image_of(3, 4, 5), _CHANNELS),
    "Swin v2": OpenNetwork(partial(_swin, 2), image_of(3, 4, 5), _CHANNELS),
    "ViT": OpenNetwork(_vision_transformer, _square(32), _FIXED),
    "MaxViT": OpenNetwork(_maxvit, _square(32), _FIXED),
    "DenseNet": OpenNetwork(_densenet, image_of(3, 8, 4), _CHANNELS),
    "Inception": OpenNetwork(_inception, image_of(3, 1, 7), _CHANNELS),
    "GoogLeNet": OpenNetwork(_googlenet, image_of(3, 3, 4), _CHANNELS),
    "ShuffleNet": OpenNetwork(_shufflenet, image_of(3, 8, 4), _CHANNELS),
    "MobileNetV2": OpenNetwork(_mobilenet_v2, image_of(3, 4), _CHANNELS),
    "MobileNetV3": OpenNetwork(_mobilenet_v3, image_of(3, 4), _CHANNELS),
    "MNASNet": OpenNetwork(_mnasnet, image_of(3, 4), _CHANNELS),
    "SqueezeNet": OpenNetwork(_squeezenet, image_of(3, 3, 4), _CHANNELS),
    "VGG": OpenNetwork(_vgg, image_of(3, 4), _CHANNELS),
    "FCN": OpenNetwork(lambda: Mapped(FCNHead(16, 3), 16), image_of(3, 8), _CHANNELS),
    "DeepLab": OpenNetwork(
        lambda: Mapped(DeepLabHead(16, 3, (2, 3, 4)), 16), image_of(3, 8), _CHANNELS
    ),
    "LRASPP": OpenNetwork(_lraspp, image_of(3, 8), _CHANNELS),
    "FCOS heads": OpenNetwork(Pyramid, image_of(3, 8), _CHANNELS),
    "RAFT": OpenNetwork(Flow, _two_images, ("first.1", "second.1")),
    "R3D": OpenNetwork(_video, _frames, ("video.1",)),
    "S3D": OpenNetwork(VideoFeatures, _frames, ("video.1",)),
}
