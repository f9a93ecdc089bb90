"""The quantisation of a network while it is compiled."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from .context import CloptContext
from .dialects import nn
from .messages.stages import stage
from .options import Place, Quantization

if TYPE_CHECKING:
    from .compiled_model import CompiledModel
    from .reports.quantization import QuantizationReport

_log = logging.getLogger(__name__)

_NO_SAMPLES = (
    "without calibration data every value is quantised for the range -8 to 8, which may cost "
    "accuracy; give samples of the inputs (--calibrate, clopt.Quantization)"
)


def quantized(
    module: ModuleOp,
    ctx: CloptContext,
    asked: Quantization | None,
    needs_shifts: bool,
    place: Place,
    use_cache: bool,
) -> QuantizationReport | None:
    """Quantise `module` as requested, with powers of two as scales if an accelerator needs them.

    The float network runs in `place` on the samples. A network without elements stays as it is.
    Return the report, if there is one.
    """
    if asked is None or not _has_elements(module):
        return None
    report = None
    if asked.form is not None:
        from .api import compile
        from .dialects.remarks import add_remarks
        from .quantization import quantize
        from .tuning.places import OFF

        def prepare(observed: ModuleOp) -> CompiledModel:
            here = replace(place, arena=None)
            return compile(
                observed, device=here, weights=ctx.weights, use_cache=use_cache, tuning=OFF
            )

        if asked.samples is None and asked.method is None:
            add_remarks(module, [_NO_SAMPLES])
        shifts = needs_shifts or asked.round_scales
        with stage(_log, "quantising the network"):
            report = quantize(module, ctx, asked, lambda observed: prepare(observed).run, shifts)
    if asked.round_scales:
        _round_scales(module, ctx)
    return report


def _round_scales(module: ModuleOp, ctx: CloptContext) -> None:
    """Round the scales of a quantised module to powers of two."""
    from .passes.nn.round_scales import NNRoundScalesPass
    from .passes.pipelines import run_pipeline

    run_pipeline(ctx, module, "simplify")
    NNRoundScalesPass().apply(ctx, module)


def _has_elements(module: ModuleOp) -> bool:
    """Return whether all inputs of a module's network have elements."""
    (network,) = nn.entries_of(module)
    return all(nn.count(nn.shape_of(value)) for value in network.body.block.args)
