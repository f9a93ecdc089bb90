"""The ways to put images into planned memory; each device supports some of them.

1. Images over parts of a buffer: `image1d_buffer`, and 2-D images with cl_khr_image2d_from_buffer.
2. Images and buffers over the same host memory (CL_MEM_USE_HOST_PTR). OpenCL does not define the
   result (API specification, section 5.2.1), but CPU runtimes share the memory.
3. Separate images, outside of the memory that was planned for them.

Before a program relies on one of the first two, a test on the device verifies it, once per process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import pyopencl as cl
from xdsl.dialects.builtin import Float16Type

from ...dialects import tir
from ...errors import CloptError
from .cache import BinaryCache
from .devices import pitch_alignment
from .image_test import Sharing, shares_memory
from .images import Images


class ImageViews(StrEnum):
    """The ways to have an image in planned memory, best first."""

    Buffer = "over buffers"
    Host = "over host memory"
    Object = "of their own"


@dataclass(frozen=True)
class View:
    """An image that a program needs over a part of a buffer."""

    image: tir.Image
    texel_bytes: int
    offset: int
    pitch: int | None
    """The row pitch of a 2-D image, in bytes."""


def choose_image_views(
    views: Iterable[View],
    images: Images,
    cache: BinaryCache,
    wanted: ImageViews | None = None,
    has_callers_memory: bool = False,
) -> dict[tir.ImageKind, ImageViews]:
    """Return the best way that works on the device, for each kind of image in `views`.

    Raises CloptError if the `wanted` way does not work.
    """
    by_kind: dict[tir.ImageKind, list[View]] = {}
    for view in views:
        by_kind.setdefault(view.image.kind, []).append(view)
    chooser = _Chooser(images, cache, has_callers_memory)
    return {kind: chooser.choose(group, wanted) for kind, group in by_kind.items()}


# Cached results of the tests on devices.
_VERDICTS: dict[tuple[cl.Device, Sharing], bool] = {}


@dataclass(frozen=True)
class _Chooser:
    """The choice of a way for the images of one program."""

    images: Images
    cache: BinaryCache
    has_callers_memory: bool

    def choose(self, views: list[View], wanted: ImageViews | None) -> ImageViews:
        ways = ImageViews if wanted is None else (wanted,)
        for way in ways:
            if self._has(way, views):
                return way
        raise CloptError(
            f"{self.images.device} cannot create this program's {views[0].image.kind.value} images "
            f"{wanted}; omit image_views, so that clopt chooses."
        )

    def _has(self, way: ImageViews, views: list[View]) -> bool:
        if way is ImageViews.Object:
            return True
        if way is ImageViews.Host and not self._is_host_memory_ours():
            return False
        if way is ImageViews.Buffer and not all(map(self._fits, views)):
            return False
        return all(self._proved(sharing) for sharing in {self._sharing(way, v) for v in views})

    def _is_host_memory_ours(self) -> bool:
        """Return whether host memory is the device's own and the arena is not the caller's."""
        return bool(self.images.device.handle.host_unified_memory) and not self.has_callers_memory

    def _fits(self, view: View) -> bool:
        """Return whether the device reports that it supports such an image there."""
        if view.offset % self.images.base_alignment:
            return False  # NVIDIA's driver would fail only at the launch
        if view.pitch is None:
            return True
        step = pitch_alignment(self.images.device, view.texel_bytes)
        return step > 0 and view.pitch % step == 0

    def _sharing(self, way: ImageViews, view: View) -> Sharing:
        is_half = isinstance(view.image.element_type, Float16Type)
        on_host = way is ImageViews.Host
        if view.pitch is None:
            return Sharing(view.image.kind, is_half, 1, on_host)
        texel = tir.TEXEL * (2 if is_half else 4)
        step = texel if on_host else pitch_alignment(self.images.device, texel)
        return Sharing(view.image.kind, is_half, step, on_host)

    def _proved(self, sharing: Sharing) -> bool:
        key = (self.images.device.handle, sharing)
        if key not in _VERDICTS:
            _VERDICTS[key] = shares_memory(sharing, self.images, self.cache)
        return _VERDICTS[key]
