"""The named pipelines: their passes, and the reason for each pass's place."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline, PassPipelineCallbackType

from ..context import CloptContext
from ..errors import CloptError
from .cl.pack_constants import CLPackConstantsPass
from .cl.plan_memory import CLPlanMemoryPass
from .cl.reorder import CLReorderPass
from .memory_limit import lower_within
from .nn.choose import NNChoosePass
from .nn.conv_to_matmul import NNConvToMatmulPass
from .nn.fake_quantize import NNFakeQuantizePass
from .nn.flatten_products import NNFlattenProductsPass
from .nn.fold_batch_norm import NNFoldBatchNormPass
from .nn.fold_constants import NNFoldConstantsPass
from .nn.fold_relayouts import NNFoldRelayoutsPass
from .nn.fuse import NNFusePass
from .nn.inline_calls import NNInlineCallsPass
from .nn.integer_products import NNIntegerProductsPass
from .nn.join_attention import NNJoinAttentionPass
from .nn.mixed_precision import NNMixedPrecisionPass
from .nn.outline_islands import NNOutlineIslandsPass
from .nn.sink_reshapes import NNSinkReshapesPass
from .nn.split_padding import NNSplitPaddingPass
from .nn.split_transposes import NNSplitTransposesPass
from .nn.to_cl import NNToCLPass
from .nn.to_tir import NNToTIRPass
from .on_networks import CanonicalizeNetworks, CSEOfNetworks, DCEOfNetworks
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
from .tir.split_kernels import TIRSplitKernelsPass
from .tir.widen_f16_accumulators import TIRWidenF16AccumulatorsPass
from .verify import VerifyPass

_log = logging.getLogger(__name__)

SIMPLIFY: tuple[ModulePass, ...] = (
    # A network that calls another is one program.
    NNInlineCallsPass(),
    # Before anything changes: passes below take a network for a function that is theirs alone.
    NNOutlineIslandsPass(),
    # Operations on weights alone run here, once, and not at every inference.
    NNFoldConstantsPass(keep_quantized=True),
    # Before activations are recognised: a batch norm must still follow its convolution directly.
    NNFoldBatchNormPass(),
    # Exporters spell activations as chains and leave identities: this brings each into one form.
    CanonicalizeNetworks(),
    # Equal subgraphs are easier to see in one form.
    CSEOfNetworks(),
    # Canonicalisation may have brought constants together.
    NNFoldConstantsPass(keep_quantized=True),
    DCEOfNetworks(),
    VerifyPass(),
)

INTEGERS: tuple[ModulePass, ...] = (
    # While constants are still integers.
    NNIntegerProductsPass(),
    # The weights of products that stay in floats.
    NNFoldConstantsPass(),
    # What floats read needs no integers. Steps join weights that are floats by now.
    NNFakeQuantizePass(),
    DCEOfNetworks(),
    VerifyPass(),
)
"""Passes on quantised networks. Before `nn-mixed-precision`, which rounds constants to half."""

PRECISION: tuple[ModulePass, ...] = (
    # After `simplify`: batch norms fold in the precision of the model, and a norm or activation
    # that is one operation keeps its intermediate values out of memory. Before `fuse`: a cast joins
    # a kernel, and the fusion depends on the types that are stored.
    NNMixedPrecisionPass(),
    # Weights that are stored as half have left those of the model dead.
    DCEOfNetworks(),
    VerifyPass(),
)
"""Does nothing unless it is given a precision."""

CHOOSE: tuple[ModulePass, ...] = (
    # Who computes each value, our kernels or an accelerator, and its layout: one choice, over the
    # forms that our kernels really have. After `nn-mixed-precision`, since a graph has one element
    # type. Forms kernels with values in texels on devices with textures; the passes below see only
    # operations that stay plain.
    NNChoosePass(),
    NNFoldRelayoutsPass(),
)

REGIONS: tuple[ModulePass, ...] = (
    # A 1x1 convolution is a matrix product and gets the schedules of one.
    NNConvToMatmulPass(),
    # On GPUs that multiply panels, which want as many rows as there are.
    NNFlattenProductsPass(),
    # Before the passes that form kernels one product at a time.
    NNJoinAttentionPass(),
    # Attention multiplies by a transposed operand; its rows should be contiguous.
    NNSplitTransposesPass(),
    # Vector loads want the border of a convolution's input in memory.
    NNSplitPaddingPass(),
    # A reshape between a kernel and its epilogue would keep them apart.
    NNSinkReshapesPass(),
    DCEOfNetworks(),
    # One region, one kernel: after this, only constants and reshapes are outside of regions.
    NNFusePass(),
    VerifyPass(),
)

FUSE = CHOOSE + REGIONS

LOWER: tuple[ModulePass, ...] = (
    # The program decides which regions need a kernel: equal ones share one, and slices and
    # concatenations without one are places in memory.
    NNToCLPass(),
    # Loops are made only of the kernels that are left, once for each.
    NNToTIRPass(),
    # The bodies of kernels are most of a module from here on; `schedule` checks its results.
    VerifyPass(bodies=False),
)

SCHEDULE: tuple[ModulePass, ...] = (
    # While kernels are naive: one of two has other stages, and gets a plan of its own.
    TIRJoinStripsPass(),
    # Decides how each kernel runs on the device, and notes that as a plan.
    TIRChoosePlanPass(),
    # Gives each loop the place of the plan: vector, registers, work-items.
    TIRApplyPlanPass(),
    # Plans may keep partial results in global memory, which only another launch can read.
    TIRSplitKernelsPass(),
    # The kernels that this makes are naive and get plans like any other.
    TIRChoosePlanPass(),
    TIRApplyPlanPass(),
    # Kernels may have asked for constants in another layout; from here on types agree again.
    CLPackConstantsPass(),
    # Blocks dissolve into plain loops, guards and initial values; this fixes the launch grids.
    TIRLowerBlocksPass(),
    # Tests of borders are conditions of their own only now; a CPU runs them outside of its loops.
    TIRHoistGuardsPass(),
    # Wherever functions stand by now, each is computed once.
    TIRExpandErfPass(),
    # Loops are final now, so a long f16 sum can be cut where that costs least.
    TIRWidenF16AccumulatorsPass(),
    # Loops are final here, too, and so is what lies side by side in memory. Before the accesses of
    # single bytes become texels.
    TIRFormDotsPass(),
    # Last, since it needs final layouts and indices: accesses to packed values become texels.
    TIRLowerTexturesPass(),
    # The work of each kernel is final, and so are its loops, which joint kernels put together.
    TIRJoinKernelsPass(),
    VerifyPass(),
)

MEMORY: tuple[ModulePass, ...] = (
    # Needs final kernels: proves which input an output may overwrite.
    TIRMarkInPlacePass(),
    # Before places, since fewer bytes live at once help any plan.
    CLReorderPass(),
    # After every pass that adds values or changes their types, sizes or order: places are final.
    CLPlanMemoryPass(),
    # Also checks the plan: values that are live at once share no bytes. The passes above leave the
    # bodies of kernels as they are, and those are most of a module.
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
    return tuple(each for each in passes if not isinstance(each, VerifyPass))


# Verifiers took a tenth of compiling when they ran at the end of every stage: here they run once
# over the operations of the network and once over the finished program with its kernels.
_COMPILE = (
    *_unverified(SIMPLIFY + INTEGERS + PRECISION),
    *FUSE,
    *_unverified(LOWER + SCHEDULE + MEMORY),
    VerifyPass(),
)
"""The passes of `opencl` as `clopt.compile` and the tools beside `clopt` run them."""


@dataclass(frozen=True)
class Tuning:
    """The tuning databases, and the device that runs: for passes that choose."""

    tuning: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    device: str = ""
    driver: str = ""


def run_pipeline(
    ctx: Context,
    module: ModuleOp,
    name: str,
    callback: PassPipelineCallbackType | None = None,
    *,
    precision: str = "f32",
    explain: bool = False,
    plans: str | None = None,
    tuning: Tuning | None = None,
    memory_limit: int | None = None,
    until: type[ModulePass] | None = None,
) -> None:
    """Apply the pipeline `name` to `module` in place; `callback` is called between passes.

    Of `opencl`, the passes before `nn-choose` and those behind `fuse` are verified together, at the
    end; `clopt -p opencl` verifies each stage.
    `precision` is passed to `nn-mixed-precision`, if the pipeline has it. With
    `explain` passes add the choices of graphs and of layouts to the context's `explanations`.
    `plans` is the file of plans for `tir-choose-plan`, `tuning` the databases for that, for
    `tir-join-strips` and for `nn-choose`. `memory_limit` is that of `apply_within`.
    `until` is the first pass that is not applied, with all that follow.
    """

    def configured(pass_: ModulePass) -> ModulePass:
        match pass_:
            case NNMixedPrecisionPass():
                return replace(pass_, precision=precision)
            case NNChoosePass():
                return replace(pass_, explain=explain, **vars(tuning or Tuning()))
            case NNFoldRelayoutsPass():
                return replace(pass_, explain=explain)
            case TIRJoinStripsPass():
                return replace(pass_, **vars(tuning or Tuning()))
            case TIRChoosePlanPass():
                return replace(pass_, database=plans, **vars(tuning or Tuning()))
            case _:
                return pass_

    def is_wanted(pass_: ModulePass) -> bool:
        return until is None or not isinstance(pass_, until)

    passes = _COMPILE if name == "opencl" else PIPELINES[name]
    passes = tuple(map(configured, takewhile(is_wanted, passes)))
    apply_within(ctx, module, passes, memory_limit, callback)


def apply_within(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    memory_limit: int | None = None,
    callback: PassPipelineCallbackType | None = None,
) -> None:
    """Apply passes to `module`, so that its programs need at most `memory_limit` bytes, if given.

    Then the passes from `nn-choose` on run as often as that takes (`memory_limit.lower_within`).
    """
    callback = _logged(callback)
    if memory_limit is None:
        PassPipeline(tuple(passes), callback).apply(ctx, module)
        return
    first = next((i for i, each in enumerate(passes) if isinstance(each, NNChoosePass)), None)
    is_planned = any(isinstance(each, CLPlanMemoryPass) for each in passes)
    if first is None or not is_planned or not isinstance(ctx, CloptContext):
        raise CloptError(
            f"a memory limit is for pipelines from {NNChoosePass.name} to {CLPlanMemoryPass.name}, "
            "for example opencl."
        )
    PassPipeline(tuple(passes[:first]), callback).apply(ctx, module)
    chosen = PassPipeline(tuple(passes[first:]), callback)
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
