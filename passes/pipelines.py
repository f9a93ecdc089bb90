"""The named pipelines: each pass, and why it stands where it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from .cl.pack_constants import CLPackConstantsPass
from .cl.plan_memory import CLPlanMemoryPass
from .cl.reorder import CLReorderPass
from .nn.choose_layout import NNChooseLayoutPass
from .nn.conv_to_matmul import NNConvToMatmulPass
from .nn.conv_transpose_to_conv import NNConvTransposeToConvPass
from .nn.fold_batch_norm import NNFoldBatchNormPass
from .nn.fold_constants import NNFoldConstantsPass
from .nn.fold_relayouts import NNFoldRelayoutsPass
from .nn.fuse import NNFusePass
from .nn.lower_to_tir import LowerNNToTIRPass
from .nn.mixed_precision import NNMixedPrecisionPass
from .nn.partition_clml import NNPartitionCLMLPass
from .nn.sink_reshapes import NNSinkReshapesPass
from .nn.split_padding import NNSplitPaddingPass
from .nn.split_transposes import NNSplitTransposesPass
from .nn.winograd import NNWinogradPass
from .tir.auto_schedule import TIRAutoSchedulePass
from .tir.lower_blocks import TIRLowerBlocksPass
from .tir.lower_textures import TIRLowerTexturesPass
from .tir.mark_in_place import TIRMarkInPlacePass
from .tir.split_half_sums import TIRSplitHalfSumsPass
from .verify import VerifyPass

SIMPLIFY: tuple[ModulePass, ...] = (
    # What depends on weights alone is computed here, once.
    NNFoldConstantsPass(),
    # A batch norm becomes part of the weights before it, while it still stands behind them.
    NNFoldBatchNormPass(),
    # Exporters spell activations as chains and leave identities behind: one form for each.
    CanonicalizePass(),
    # Equal subgraphs are easier to see in one form.
    CommonSubexpressionElimination(),
    # Canonicalisation may have brought constants together.
    NNFoldConstantsPass(),
    DeadCodeElimination(),
    VerifyPass(),
)

PRECISION: tuple[ModulePass, ...] = (
    # Behind `simplify`: batch norms are folded in the precision of the model, and a norm or an
    # activation that is one operation keeps its intermediate values out of memory. Before `fuse`:
    # a cast joins a kernel, and what becomes one kernel depends on what is stored.
    NNMixedPrecisionPass(),
    VerifyPass(),
)
"""Does nothing unless it is given a precision."""

OFFLOAD: tuple[ModulePass, ...] = (
    # Behind `nn-mixed-precision`, as a graph has one element type. Before `fuse`: CLML computes
    # operations as the model has them, and what it leaves becomes kernels.
    NNPartitionCLMLPass(),
    # Constants that only CLML reads are in its graphs.
    DeadCodeElimination(),
    VerifyPass(),
)
"""Does nothing unless the target says that CLML is to be used."""

FUSE: tuple[ModulePass, ...] = (
    # A transposed convolution is an ordinary one with interleaved outputs: one kind of kernel less.
    NNConvTransposeToConvPass(),
    # Where it pays, 3x3 convolutions are batches of matrix products between two transforms.
    NNWinogradPass(),
    # On devices with textures, kernels and what lies between them in texels. What stays plain here,
    # on other devices all of it, is what the rest is about.
    NNChooseLayoutPass(),
    NNFoldRelayoutsPass(),
    # A 1x1 convolution is a matrix product; seen so, it gets the schedules of one.
    NNConvToMatmulPass(),
    # Attention multiplies by a transposed operand; its rows should lie in memory.
    NNSplitTransposesPass(),
    # Vectors want the border of a convolution's input in memory.
    NNSplitPaddingPass(),
    # Views between a kernel and its epilogue would keep them apart.
    NNSinkReshapesPass(),
    DeadCodeElimination(),
    # One region, one kernel: after this, only constants and reshapes stand outside of regions.
    NNFusePass(),
    VerifyPass(),
)

LOWER: tuple[ModulePass, ...] = (
    # Regions become naive loop nests, the function a queue program; equal regions share a kernel.
    LowerNNToTIRPass(),
    VerifyPass(),
)

SCHEDULE: tuple[ModulePass, ...] = (
    # Loops get their places on the device: vectors, registers, work-items.
    TIRAutoSchedulePass(),
    # Kernels may have asked for constants in another layout; from here on types agree again.
    CLPackConstantsPass(),
    # Blocks dissolve into plain loops, guards and initial values; the launch grids are known.
    TIRLowerBlocksPass(),
    # Loops are what they will be, so a long sum of halves can be cut where it costs least.
    TIRSplitHalfSumsPass(),
    # Where packed values lie is known, and so are the indices: accesses become those of texels.
    TIRLowerTexturesPass(),
    VerifyPass(),
)

MEMORY: tuple[ModulePass, ...] = (
    # Kernels are what they will be: which input may an output overwrite?
    TIRMarkInPlacePass(),
    # The fewer bytes are live at once, the less any plan needs: order before places.
    CLReorderPass(),
    # Behind every pass that adds values or changes their types, sizes or order: places are final.
    CLPlanMemoryPass(),
    # Checks the plan itself: what is live at once has bytes of its own.
    VerifyPass(),
)

PIPELINES: dict[str, tuple[ModulePass, ...]] = {
    "simplify": SIMPLIFY,
    "offload": OFFLOAD,
    "fuse": FUSE,
    "lower": LOWER,
    "schedule": SCHEDULE,
    "memory": MEMORY,
    "opencl": SIMPLIFY + PRECISION + OFFLOAD + FUSE + LOWER + SCHEDULE + MEMORY,
}


def run_pipeline(
    ctx: Context,
    module: ModuleOp,
    name: str,
    callback: Callable[[ModulePass | None, ModuleOp, ModulePass | None], None] | None = None,
    *,
    precision: str = "f32",
    explain: bool = False,
) -> None:
    """Apply the pipeline `name` to `module` in place; `callback` is called between passes.

    `precision` is that of `nn-mixed-precision`, where the pipeline has it; with `explain` what
    goes to CLML and the layouts are explained on stderr.
    """

    def configured(pass_: ModulePass) -> ModulePass:
        match pass_:
            case NNMixedPrecisionPass():
                return replace(pass_, precision=precision)
            case NNPartitionCLMLPass() | NNChooseLayoutPass() | NNFoldRelayoutsPass():
                return replace(pass_, explain=explain)
            case _:
                return pass_

    passes = tuple(configured(pass_) for pass_ in PIPELINES[name])
    PassPipeline(passes, callback).apply(ctx, module)
