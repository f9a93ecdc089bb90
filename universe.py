"""The dialects, passes and targets that clopt adds to xDSL, each imported on first use.

To add one, add a row: its name, then `module:Class` with the module's path inside clopt. Dialects
of accelerators are listed in `accelerators.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.universe import XDSL_UNIVERSE, Universe

from .accelerators import ACCELERATORS, Row, accelerators
from .formats import foreign_formats

DIALECTS: dict[str, str] = {
    "cl": "dialects.cl:CL",
    "nn": "dialects.nn:NN",
    "tir": "dialects.tir:TIR",
}

PASSES: dict[str, str] = {
    "cl-check-in-place": "passes.cl.check_in_place:CLCheckInPlacePass",
    "cl-pack-constants": "passes.cl.pack_constants:CLPackConstantsPass",
    "cl-plan-memory": "passes.cl.plan_memory:CLPlanMemoryPass",
    "cl-range-launches": "passes.cl.range_launches:CLRangeLaunchesPass",
    "cl-reorder": "passes.cl.reorder:CLReorderPass",
    "cl-take-turns": "passes.cl.take_turns:CLTakeTurnsPass",
    "nn-choose": "passes.nn.choose:NNChoosePass",
    "nn-conv-to-matmul": "passes.nn.conv_to_matmul:NNConvToMatmulPass",
    "nn-conv-transpose-to-conv": "passes.nn.conv_transpose_to_conv:NNConvTransposeToConvPass",
    "nn-fake-quantize": "passes.nn.fake_quantize:NNFakeQuantizePass",
    "nn-flatten-products": "passes.nn.flatten_products:NNFlattenProductsPass",
    "nn-fold-batch-norm": "passes.nn.fold_batch_norm:NNFoldBatchNormPass",
    "nn-fold-constants": "passes.nn.fold_constants:NNFoldConstantsPass",
    "nn-fuse": "passes.nn.fuse:NNFusePass",
    "nn-inline-calls": "passes.nn.inline_calls:NNInlineCallsPass",
    "nn-integer-products": "passes.nn.integer_products:NNIntegerProductsPass",
    "nn-join-attention": "passes.nn.join_attention:NNJoinAttentionPass",
    "nn-mark-images": "passes.nn.mark_images:NNMarkImagesPass",
    "nn-mixed-precision": "passes.nn.mixed_precision:NNMixedPrecisionPass",
    "nn-round-halves": "passes.nn.round_halves:NNRoundHalvesPass",
    "nn-outline-islands": "passes.nn.outline_islands:NNOutlineIslandsPass",
    "nn-quantize": "passes.nn.quantize:NNQuantizePass",
    "nn-round-scales": "passes.nn.round_scales:NNRoundScalesPass",
    "nn-sink-reshapes": "passes.nn.sink_reshapes:NNSinkReshapesPass",
    "nn-split-concats": "passes.nn.split_concats:NNSplitConcatsPass",
    "nn-split-padding": "passes.nn.split_padding:NNSplitPaddingPass",
    "nn-split-transposes": "passes.nn.split_transposes:NNSplitTransposesPass",
    "nn-to-cl": "passes.nn.to_cl:NNToCLPass",
    "nn-to-tir": "passes.nn.to_tir:NNToTIRPass",
    "nn-update-in-place": "passes.nn.update_in_place:NNUpdateInPlacePass",
    "nn-winograd": "passes.nn.winograd:NNWinogradPass",
    "recall-choices": "passes.recall_choices:RecallChoicesPass",
    "tir-apply-plan": "passes.tir.apply_plan:TIRApplyPlanPass",
    "tir-apply-schedule": "passes.tir.apply_schedule:TIRApplySchedulePass",
    "tir-choose-plan": "passes.tir.choose_plan:TIRChoosePlanPass",
    "tir-expand-erf": "passes.tir.expand_erf:TIRExpandErfPass",
    "tir-form-dots": "passes.tir.form_dots:TIRFormDotsPass",
    "tir-hoist-guards": "passes.tir.hoist_guards:TIRHoistGuardsPass",
    "tir-join-kernels": "passes.tir.join_kernels:TIRJoinKernelsPass",
    "tir-join-strips": "passes.tir.join_strips:TIRJoinStripsPass",
    "tir-lower-blocks": "passes.tir.lower_blocks:TIRLowerBlocksPass",
    "tir-lower-textures": "passes.tir.lower_textures:TIRLowerTexturesPass",
    "tir-mark-in-place": "passes.tir.mark_in_place:TIRMarkInPlacePass",
    "tir-merge-variables": "passes.tir.merge_variables:TIRMergeVariablesPass",
    "tir-split-kernels": "passes.tir.split_kernels:TIRSplitKernelsPass",
    "tir-widen-f16-accumulators": "passes.tir.widen_f16_accumulators:TIRWidenF16AccumulatorsPass",
    "verify": "passes.verify:VerifyPass",
    "vta-assign-tokens": "passes.vta.assign_tokens:VTAAssignTokensPass",
    "vta-emit-binaries": "passes.vta.emit_binaries:VTAEmitBinariesPass",
    "vta-emit-instructions": "passes.vta.emit_instructions:VTAEmitInstructionsPass",
    "vta-lower-layers": "passes.vta.lower_layers:VTALowerLayersPass",
    "vta-place-uops": "passes.vta.place_uops:VTAPlaceUopsPass",
}

FRONTENDS: dict[str, str] = {
    "fx": "frontends.fx:import_fx",
    "linalg": "frontends.linalg:import_linalg",
    "onnx": "frontends.onnx:import_onnx",
}
"""The importers of networks that are not in nn."""

WIDENED: dict[str, str] = {
    "linalg": "frontends.linalg.named:LINALG",
}
"""xDSL dialects with additional operations, for clopt's own contexts: plug-ins cannot replace them.
"""

NAMED_PIPELINES: dict[str, str] = {
    "clopt-fuse": "passes.named_pipelines:FusePipeline",
    "clopt-lower": "passes.named_pipelines:LowerPipeline",
    "clopt-memory": "passes.named_pipelines:MemoryPipeline",
    "clopt-opencl": "passes.named_pipelines:OpenCLPipeline",
    "clopt-schedule": "passes.named_pipelines:SchedulePipeline",
    "clopt-simplify": "passes.named_pipelines:SimplifyPipeline",
}
"""The pipelines of `passes/pipelines.py`, for drivers that accept only passes."""

TARGETS: dict[str, str] = {
    "description": "backends.description_target:DescriptionTarget",
    "opencl-c": "backends.opencl_c.target:OpenCLCTarget",
    "choices": "reports.choices:ChoicesTarget",
}


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f".{module}", __package__), name)


def _tir() -> Dialect:
    """Return the dialect of kernels; register our rules with the verifier of plans."""
    _load("dialects.tir:check_plans_by")(_plan_fault)
    return _load(DIALECTS["tir"])


def _plan_fault(plan: Any) -> str | None:
    return _load("passes.tir.rules.plans:schema_fault")(plan)


def _of_accelerators(rows: Mapping[str, Row]) -> dict[str, Callable[[], Dialect]]:
    return {name: partial(row.load, "dialect") for name, row in rows.items()}


def all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Those of clopt, xDSL and the accelerators that other packages bring."""
    ours = XDSL_UNIVERSE.all_dialects | CLOPT_UNIVERSE.all_dialects
    return ours | _factories(WIDENED) | _of_accelerators(accelerators())


def with_all_packages() -> Universe:
    """Return the dialects, passes and targets of clopt and of all installed packages."""
    found = _installed()
    # Entry points exist only once clopt is installed; a bare checkout registers itself here.
    return Universe(
        all_dialects=found.all_dialects | CLOPT_UNIVERSE.all_dialects,
        all_passes=found.all_passes | CLOPT_UNIVERSE.all_passes,
        all_targets=found.all_targets | CLOPT_UNIVERSE.all_targets,
    )


@cache
def _installed() -> Universe:
    """Return what xDSL finds in the metadata of all packages, in 6 ms (Zen 4, 100 packages)."""
    return Universe.get_multiverse()


def frontend(name: str) -> Callable[..., ModuleOp]:
    """Return a frontend's importer by the frontend's name."""
    return _load(FRONTENDS[name]) if name in FRONTENDS else foreign_formats()[name]


def _factories(table: dict[str, str]) -> dict[str, Callable[[], Any]]:
    return {name: partial(_load, place) for name, place in table.items()}


CLOPT_UNIVERSE = Universe(
    all_dialects=dict(
        sorted((_factories(DIALECTS) | {"tir": _tir} | _of_accelerators(ACCELERATORS)).items())
    ),
    all_passes=_factories(PASSES | NAMED_PIPELINES),
    all_targets=_factories(TARGETS),
)
"""The entry point of the group `xdsl.universe`, with which a stock `xdsl-opt` runs clopt's passes.
"""
