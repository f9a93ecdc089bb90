"""The named pipelines, with the reason for the position of each pass."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline, PassPipelineCallbackType

from ..context import CloptContext
from ..decisions.database import Tuning
from ..decisions.recorded import forget
from ..errors import CloptError
from .cl.check_in_place import CLCheckInPlacePass
from .cl.pack_constants import CLPackConstantsPass
from .cl.plan_memory import CLPlanMemoryPass
from .cl.range_launches import CLRangeLaunchesPass
from .cl.reorder import CLReorderPass
from .cl.take_turns import CLTakeTurnsPass
from .memory_limit import lower_within
from .nn.choose import NNChoosePass
from .nn.conv_to_matmul import NNConvToMatmulPass
from .nn.fake_quantize import NNFakeQuantizePass
from .nn.flatten_products import NNFlattenProductsPass
from .nn.fold_batch_norm import NNFoldBatchNormPass
from .nn.fold_constants import NNFoldConstantsPass
from .nn.fuse import NNFusePass
from .nn.inline_calls import NNInlineCallsPass
from .nn.integer_products import NNIntegerProductsPass
from .nn.join_attention import NNJoinAttentionPass
from .nn.mixed_precision import NNMixedPrecisionPass
from .nn.outline_islands import NNOutlineIslandsPass
from .nn.round_halves import NNRoundHalvesPass
from .nn.sink_reshapes import NNSinkReshapesPass
from .nn.split_padding import NNSplitPaddingPass
from .nn.split_transposes import NNSplitTransposesPass
from .nn.to_cl import NNToCLPass
from .nn.to_tir import NNToTIRPass
from .on_networks import CanonicalizeNetworks, CSEOfNetworks, DCEOfNetworks
from .recall_choices import RecallChoicesPass
from .tir.apply_plan import TIRApplyPlanPass
from .tir.choose_plan import TIRChoosePlanPass
from .tir.expand_erf import TIRExpandErfPass
from .tir.form_dots import TIRFormDotsPass
from .tir.hoist_guards import TIRHoistGuardsPass
from .tir.join_kernels import TIRJoinKernelsPass
from .tir.join_strips import TIRJoinStripsPass
from .tir.lower_blocks import TIRLowerBlocksPass
from .tir.lower_textures import TIRLowerTexturesPass
from .tir.mark_in_place import TIRMarkInPlacePass
from .tir.merge_variables import TIRMergeVariablesPass
from .tir.split_kernels import TIRSplitKernelsPass
from .tir.widen_f16_accumulators import TIRWidenF16AccumulatorsPass
from .verify import VerifyPass

_log = logging.getLogger(__name__)

SIMPLIFY: tuple[ModulePass, ...] = (
    # A network that calls another network compiles to one program.
    NNInlineCallsPass(),
    # Before anything changes: the passes below may rewrite all of a network, so an embedder's
    # operations must be in functions of their own by then.
    NNOutlineIslandsPass(),
    # Computes operations on weights once, not at every inference.
    NNFoldConstantsPass(keep_quantized=True),
    # Before activations are recognised: a batch norm must still directly follow its convolution.
    NNFoldBatchNormPass(),
    # Exporters spell activations as chains and leave identities; this restores one form.
    CanonicalizeNetworks(),
    # After canonicalisation: more subgraphs are equal in one form.
    CSEOfNetworks(),
    # Canonicalisation may have brought constants together.
    NNFoldConstantsPass(keep_quantized=True),
    DCEOfNetworks(),
    VerifyPass(),
)

INTEGERS: tuple[ModulePass, ...] = (
    # Needs constants that are still integers.
    NNIntegerProductsPass(),
    # Dequantises the weights of products that stay in floating point.
    NNFoldConstantsPass(),
    # After that folding: quantisation steps are merged into weights that are floats by now, and
    # values that only floats read need no integers.
    NNFakeQuantizePass(),
    DCEOfNetworks(),
    VerifyPass(),
)
"""Passes on quantised networks.

They run before `nn-mixed-precision`, which rounds constants to half.
"""

PRECISION: tuple[ModulePass, ...] = (
    # After `simplify`: batch norms fold in the precision of the model, and a norm or activation
    # that is a single operation keeps its intermediate values out of memory. Before `fuse`: casts
    # are fused into kernels, and fusion depends on the stored types.
    NNMixedPrecisionPass(),
    # The model's weights are dead once half copies replace them.
    DCEOfNetworks(),
    VerifyPass(),
)
"""Passes that do nothing unless a precision is set."""

FUSE: tuple[ModulePass, ...] = (
    # Chooses each value's producer (a kernel or an accelerator) and its layout together, over the
    # forms that the kernels have after fusion. After `nn-mixed-precision`, since a graph has one
    # element type. On devices with textures it forms the kernels whose values are texels; the
    # passes below see only the remaining plain operations.
    NNChoosePass(),
    # A 1x1 convolution is a matrix product and should get a matrix product's schedules.
    NNConvToMatmulPass(),
    # Merges batch dimensions into rows: GPU schedules multiply panels of many rows.
    NNFlattenProductsPass(),
    # A reshape would prevent the fusion of a product and its epilogue, and that of attention where
    # it stands between a mask and a softmax.
    NNSinkReshapesPass(),
    # Before the passes that form one kernel for each product.
    NNJoinAttentionPass(),
    # Attention multiplies by a transposed operand, whose rows should be contiguous.
    NNSplitTransposesPass(),
    # Vector loads cannot test each lane, so the border of a convolution's input goes to memory.
    NNSplitPaddingPass(),
    DCEOfNetworks(),
    # Each region becomes one kernel; only constants and reshapes stay outside of regions.
    NNFusePass(),
    VerifyPass(),
)

LOWER: tuple[ModulePass, ...] = (
    # Decides which regions need a kernel: equal regions share one, and slices and concatenations
    # may become parts of another value's memory.
    NNToCLPass(),
    # Lowers each remaining kernel once.
    NNToTIRPass(),
    # Kernel bodies are most of a module from here on, and `schedule` verifies them at its end.
    VerifyPass(bodies=False),
)

SCHEDULE: tuple[ModulePass, ...] = (
    # Needs naive kernels: a joined kernel has other stages than its parts and gets its own plan.
    TIRJoinStripsPass(),
    # After strips are joined, because these have rows and columns. Tiles are columns of a single
    # variable, and all pixels of a 1x1 convolution can be.
    TIRMergeVariablesPass(),
    # Chooses how each kernel runs on the device and records it as a plan.
    TIRChoosePlanPass(),
    # Maps each loop as planned: vectorised, unrolled into registers, or bound to work-items.
    TIRApplyPlanPass(),
    # Plans may keep partial results in global memory, which only a later launch can read.
    TIRSplitKernelsPass(),
    # The split kernels are naive and get plans like any other kernel.
    TIRChoosePlanPass(),
    TIRApplyPlanPass(),
    # Plans may need constants in another layout; from here on the types agree again.
    CLPackConstantsPass(),
    # Lowers blocks to plain loops, guards and initial values, which fixes the launch grids.
    TIRLowerBlocksPass(),
    # After blocks: border tests are separate conditions only now. A CPU hoists them out of loops.
    TIRHoistGuardsPass(),
    # After every pass that copies operations, so that each erf is expanded once.
    TIRExpandErfPass(),
    # Needs final loops, to split a long f16 sum where that costs least.
    TIRWidenF16AccumulatorsPass(),
    # Needs final loops and memory order, to find adjacent bytes. Before accesses of single bytes
    # become texels.
    TIRFormDotsPass(),
    # Needs final layouts and indices: accesses to packed values become texel accesses.
    TIRLowerTexturesPass(),
    # Last: joint kernels concatenate the final loops of their parts.
    TIRJoinKernelsPass(),
    VerifyPass(),
)

MEMORY: tuple[ModulePass, ...] = (
    # Needs final kernels, to prove which input an output may overwrite.
    TIRMarkInPlacePass(),
    # Needs final kernels. Before planning, because values that will share bytes are still apart.
    # Does nothing unless a program is to serve smaller sizes.
    CLRangeLaunchesPass(),
    # Before planning: lower peak liveness helps any plan.
    CLReorderPass(),
    # Needs the final order of commands, and the pairs of inputs and outputs that kernels may share.
    CLCheckInPlacePass(),
    # After every pass that adds values or changes their types, sizes or order: offsets are final.
    CLPlanMemoryPass(),
    # After planning: values of kernels in one launch would all be live at once.
    CLTakeTurnsPass(),
    # Also verifies the plan: values that are live at once share no bytes. Kernel bodies, most of a
    # module, are skipped because the passes above do not change them.
    VerifyPass(bodies=False),
)

PIPELINES: dict[str, tuple[ModulePass, ...]] = {
    "simplify": SIMPLIFY,
    "fuse": FUSE,
    "lower": LOWER,
    "schedule": SCHEDULE,
    "memory": MEMORY,
    "opencl": SIMPLIFY + INTEGERS + PRECISION + FUSE + LOWER + SCHEDULE + MEMORY,
}


def _unverified(passes: Sequence[ModulePass]) -> tuple[ModulePass, ...]:
    return tuple(pass_ for pass_ in passes if not isinstance(pass_, VerifyPass))


# Verifying at the end of every stage took a tenth of the compile time. This verifies twice: the
# network's operations after `fuse`, and the finished program with its kernels.
_COMPILE = (
    *_unverified(SIMPLIFY + INTEGERS + PRECISION),
    *FUSE,
    *_unverified(LOWER + SCHEDULE + MEMORY),
    VerifyPass(),
)
"""The passes of `opencl` as `clopt.compile` and the tools other than `clopt` run them."""


def run_pipeline(
    ctx: Context,
    module: ModuleOp,
    name: str,
    callback: PassPipelineCallbackType | None = None,
    *,
    precision: str = "f32",
    strict_half: bool = False,
    tuning: Tuning | None = None,
    memory_limit: int | None = None,
    until: type[ModulePass] | None = None,
) -> None:
    """Apply the pipeline `name` to `module` in place; `callback` is called between passes.

    The stages of `opencl` are verified after `fuse` and at the end; `clopt -p opencl` verifies
    every stage. The arguments configure the passes that the pipeline contains:

    - `precision` is the option of `nn-mixed-precision`.
    - `strict_half` runs `nn-round-halves` first, before operations are rewritten.
    - `tuning` names the databases for `recall-choices`, which comes first, and `tir-choose-plan`.
    - `memory_limit` limits intermediate results, in bytes (see `apply_within`).
    - `until` ends the pipeline before the first pass of this class.
    """

    def configured(pass_: ModulePass) -> ModulePass:
        match pass_:
            case NNMixedPrecisionPass():
                return replace(pass_, precision=precision)
            case TIRChoosePlanPass():
                return replace(pass_, **vars(tuning or Tuning()))
            case _:
                return pass_

    def is_wanted(pass_: ModulePass) -> bool:
        return until is None or not isinstance(pass_, until)

    passes = _COMPILE if name == "opencl" else PIPELINES[name]
    passes = tuple(map(configured, takewhile(is_wanted, passes)))
    if strict_half:
        passes = (NNRoundHalvesPass(), *passes)
    if tuning is not None:
        passes = (RecallChoicesPass(**vars(tuning)), *passes)
    apply_within(ctx, module, passes, memory_limit, callback)
    forget(module)


def apply_within(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    memory_limit: int | None = None,
    callback: PassPipelineCallbackType | None = None,
) -> None:
    """Apply `passes` to `module`; with a `memory_limit`, keep its programs within these bytes.

    Under a limit, the passes from `nn-choose` on run repeatedly (`memory_limit.lower_within`), but
    not `cl-take-turns`: times are estimated for each launch, and its counters take memory.
    """
    callback = _logged(callback)
    if memory_limit is None:
        PassPipeline(tuple(passes), callback).apply(ctx, module)
        return
    first = next((i for i, pass_ in enumerate(passes) if isinstance(pass_, NNChoosePass)), None)
    is_planned = any(isinstance(pass_, CLPlanMemoryPass) for pass_ in passes)
    if first is None or not is_planned or not isinstance(ctx, CloptContext):
        raise CloptError(
            f"a memory limit needs a pipeline that runs {NNChoosePass.name} and later "
            f"{CLPlanMemoryPass.name}, for example opencl."
        )
    PassPipeline(tuple(passes[:first]), callback).apply(ctx, module)
    rest = tuple(each for each in passes[first:] if not isinstance(each, CLTakeTurnsPass))
    chosen = PassPipeline(rest, callback)
    lower_within(ctx, module, memory_limit, lambda: chosen.apply(ctx, module))


def _logged(callback: PassPipelineCallbackType | None) -> PassPipelineCallbackType | None:
    """Return a callback that logs the time of each pass, then calls `callback`."""
    if not _log.isEnabledFor(logging.DEBUG):
        return callback
    start = time.perf_counter()

    def log(previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        nonlocal start
        if previous is not None:
            _log.debug("pass %s: %.3f s", previous.name, time.perf_counter() - start)
        if callback is not None:
            callback(previous, module, following)
        start = time.perf_counter()

    return log
