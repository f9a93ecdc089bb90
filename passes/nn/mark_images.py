"""Marking of the network inputs and outputs that the application passes as images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, f16, f32
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from ...dialects import cl, nn
from ...dialects.cl.images import verify_image
from ...errors import CloptError
from .layout.images import image_layout

_RANK = 4


@dataclass(frozen=True)
class NNMarkImagesPass(ModulePass):
    """Mark inputs and outputs of networks as images of RGBA texels, with `nn.image`.

    `nn-choose` gives them the packed layout of four channels per texel, and `nn-to-cl` makes images
    of them. The pass refuses names that no network has, and tensors that are not N x C x H x W of
    floats. It also refuses targets that keep values in buffers or do not support an image that
    large.
    """

    name: ClassVar[str] = "nn-mark-images"
    names: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.names:
            return
        target = cl.target_of(op)
        _check_target(self.names[0], target)
        networks = nn.entries_of(op)
        parameters = [each for function in networks for each in _parameters(function)]
        for name in self.names:
            types = [type_ for known, type_ in parameters if known == name]
            if not types:
                known = ", ".join(f'"{known}"' for known, _ in parameters) or "none"
                raise CloptError(
                    f'"{name}" is to be an image, but the network has no such input or output; it '
                    f"has {known}."
                )
            for type_ in types:
                _check_type(name, type_, target)
        for function in networks:
            nn.mark_images(function, self.names)


def _parameters(function: func.FuncOp) -> Iterator[tuple[str, Attribute]]:
    """Return the names and types of inputs, then of outputs."""
    type_ = function.function_type
    return zip(nn.parameter_names(function), (*type_.inputs, *type_.outputs), strict=True)


def _check_target(name: str, target: cl.Target) -> None:
    """Raise CloptError for targets whose kernels pass values in buffers."""
    if not target.device.images:
        raise CloptError(f'"{name}" is to be an image, but {target.name} has no images.')
    if not target.uses_textures:
        raise CloptError(
            f'"{name}" is to be an image, but on {target.name} values lie in buffers, not in '
            f"texels of four channels (texture={target.policy.texture}); bind a buffer, or "
            "compile with texture=prefer."
        )


def _check_type(name: str, type_: Attribute, target: cl.Target) -> None:
    """Raise CloptError for tensors that no image of RGBA floats can hold."""
    plain = nn.plain_type(type_)
    if plain.element_type not in (f16, f32):
        raise CloptError(f'"{name}" is {type_}, but an image must be of f32 or f16.')
    shape = plain.get_shape()
    if len(shape) != _RANK or 0 in shape:
        raise CloptError(
            f'"{name}" has the shape {"x".join(map(str, shape)) or "()"}; an image holds '
            "N x C x H x W, four channels in a texel."
        )
    image = nn.buffer_type(nn.with_layout(plain, image_layout(plain)))
    try:
        verify_image(f'"{name}"', image, target)
    except VerifyException as error:
        raise CloptError(f"{error}.") from error
