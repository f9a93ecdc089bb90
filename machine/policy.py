"""What the user asked for."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FactTable, fact

AMOUNTS = ("off", "auto", "prefer")


@dataclass(frozen=True)
class PolicyFacts(FactTable):
    """What the user asked for; no property of the device."""

    texture: str = fact("auto", choices=AMOUNTS)
    """Whether values lie in images: wherever they fit (`prefer`), nowhere (`off`), or if
    `image_cost` is low (`auto`)."""
    blocks: str = fact("off", choices=AMOUNTS)
    """Whether a CPU's buffers between kernels hold channels in blocks of `vector_width`: wherever
    there are channels (`prefer`), nowhere (`off`), or where the cost model favours it (`auto`)."""
    winograd: str = fact("auto", choices=AMOUNTS)
    """Whether 3x3 convolutions use Winograd's transforms: wherever these need fewer multiply-adds
    (`prefer`), nowhere (`off`), or where the cost model favours it (`auto`)."""
