"""What the user asked for."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FactTable, fact

AMOUNTS = ("off", "auto", "prefer")


@dataclass(frozen=True)
class PolicyFacts(FactTable):
    """What the user asked for; no property of the device."""

    texture: str = fact("auto", choices=AMOUNTS)
    """`prefer` images wherever they fit, `off` for buffers only, `auto` as `image_cost` says."""
    blocks: str = fact("off", choices=AMOUNTS)
    """Whether the channels of values between kernels lie in blocks of `vector_width` in the buffers
    of a CPU: wherever there are channels (`prefer`), nowhere (`off`), or as the costs of the target
    say (`auto`)."""
    winograd: str = fact("auto", choices=AMOUNTS)
    """Whether 3x3 convolutions are computed by Winograd's transforms: wherever these take fewer
    products (`prefer`), nowhere (`off`), or as the cost of the transforms says (`auto`)."""
