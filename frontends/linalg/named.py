"""Named operations of `linalg` that xDSL lacks, each an entry of a table below."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, DenseIntElementsAttr
from xdsl.dialects.linalg import Linalg, ops
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, BlockArgument, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser

Combine = tuple[type[Operation], type[Operation]]
"""The combining operation of a reduction, for floats and for integers."""

_SUM: Combine = (arith.AddfOp, arith.AddiOp)
_MAX: Combine = (arith.MaximumfOp, arith.MaxSIOp)
_MIN: Combine = (arith.MinimumfOp, arith.MinSIOp)


class SpelledOp(NamedOperation):
    """An operation with maps in Einstein notation: `m k, k n -> m n`.

    `h:i` is a window axis: position h times a stride plus tap i times a dilation.
    """

    PRINT_ATTRS_IN_FRONT: ClassVar[bool] = True
    SPELLING: ClassVar[str]
    COMBINE: ClassVar[Combine] = _SUM
    IS_PRODUCT: ClassVar[bool] = True
    """Whether it reduces products of both inputs, or elements of the first."""

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        types = cls.body_arg_types((*inputs, *outputs))
        is_float = isinstance(types[-1], AnyFloat)
        combine = cls.COMBINE[0 if is_float else 1]

        @Builder.implicit_region(types)
        def region(args: tuple[BlockArgument, ...]) -> None:
            term: SSAValue = args[0]
            if cls.IS_PRODUCT:
                a, b = (_extended(value, types[-1]) for value in args[:2])
                term = (arith.MulfOp if is_float else arith.MuliOp)(a, b).result
            YieldOp(combine.create(operands=[args[-1], term], result_types=[types[-1]]))

        return region

    @property
    def window(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the strides and dilations of the window axes."""
        return (), ()

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        inputs, _, output = self.SPELLING.partition("->")
        words = [text.split() for text in (*inputs.split(","), output)]
        loops = _loops(self.SPELLING)
        return [
            AffineMap(
                len(loops), 0, tuple(self._index(word, loops, i) for i, word in _numbered(text))
            )
            for text in words
        ]

    def _index(self, word: str, loops: Sequence[str], window: int) -> AffineExpr:
        names = word.split(":")
        place, *taps = (AffineDimExpr(loops.index(name)) for name in names)
        if not taps:
            return place
        strides, dilations = self.window
        return place * strides[window] + taps[0] * dilations[window]

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        written = self.SPELLING.partition("->")[2].split()
        return ArrayAttr(
            IteratorTypeAttr.parallel() if loop in written else IteratorTypeAttr.reduction()
            for loop in _loops(self.SPELLING)
        )


class SpelledWindowOp(SpelledOp):
    """A convolution or pooling, which has strides and dilations."""

    strides = prop_def(DenseIntElementsAttr)
    dilations = prop_def(DenseIntElementsAttr)

    @property
    def window(self) -> tuple[Sequence[int], Sequence[int]]:
        strides, dilations = (attr.get_values() for attr in (self.strides, self.dilations))
        return [int(n) for n in strides], [int(n) for n in dilations]


def _loops(spelling: str) -> list[str]:
    """Return the names of the loops, result dimensions first."""
    inputs, _, output = spelling.partition("->")
    return list(dict.fromkeys([*output.split(), *re.findall(r"\w+", inputs)]))


def _numbered(words: Sequence[str]) -> list[tuple[int, str]]:
    """Return the words, each with the number of window axes before it."""
    return [(sum(":" in other for other in words[:i]), word) for i, word in enumerate(words)]


def _extended(value: SSAValue, to: Attribute) -> SSAValue:
    """Return a factor extended to the type of the sum."""
    if value.type == to:
        return value
    make = arith.ExtFOp if isinstance(to, AnyFloat) else arith.ExtSIOp
    return make.create(operands=[value], result_types=[to]).results[0]


_PRODUCTS = {
    "batch_matmul": "b m k, b k n -> b m n",
    "batch_matvec": "b m k, b k -> b m",
    "batch_vecmat": "b k, b k n -> b n",
    "dot": "k, k -> ",
    "matvec": "m k, k -> m",
    "vecmat": "k, k n -> n",
    "matmul_transpose_a": "k m, k n -> m n",
    "matmul_transpose_b": "m k, n k -> m n",
    "batch_matmul_transpose_a": "b k m, b k n -> b m n",
    "batch_matmul_transpose_b": "b m k, b n k -> b m n",
}
_CONVOLUTIONS = {
    "conv_1d_ncw_fcw": "n c w:i, f c i -> n f w",
    "conv_1d_nwc_wcf": "n w:i c, i c f -> n w f",
    "conv_3d_ncdhw_fcdhw": "n c d:i h:j w:k, f c i j k -> n f d h w",
    "conv_3d_ndhwc_dhwcf": "n d:i h:j w:k c, i j k c f -> n d h w f",
    "depthwise_conv_1d_ncw_cw": "n c w:i, c i -> n c w",
    "depthwise_conv_1d_nwc_wc": "n w:i c, i c -> n w c",
    "depthwise_conv_2d_nchw_chw": "n c h:i w:j, c i j -> n c h w",
    "depthwise_conv_2d_nhwc_hwc": "n h:i w:j c, i j c -> n h w c",
    "depthwise_conv_2d_nhwc_hwcm": "n h:i w:j c, i j c m -> n h w c m",
}
_NCHW, _NHWC = "n c h:i w:j, i j -> n c h w", "n h:i w:j c, i j -> n h w c"
_NCDHW = "n c d:i h:j w:k, i j k -> n c d h w"
_NDHWC = "n d:i h:j w:k c, i j k -> n d h w c"
_POOLS: dict[str, tuple[str, Combine]] = {
    "pooling_nchw_max": (_NCHW, _MAX),
    "pooling_nchw_sum": (_NCHW, _SUM),
    "pooling_nhwc_sum": (_NHWC, _SUM),
    "pooling_nhwc_max": (_NHWC, _MAX),
    "pooling_nhwc_min": (_NHWC, _MIN),
    "pooling_ncw_max": ("n c w:i, i -> n c w", _MAX),
    "pooling_ncw_sum": ("n c w:i, i -> n c w", _SUM),
    "pooling_nwc_max": ("n w:i c, i -> n w c", _MAX),
    "pooling_nwc_sum": ("n w:i c, i -> n w c", _SUM),
    "pooling_ncdhw_max": (_NCDHW, _MAX),
    "pooling_ncdhw_sum": (_NCDHW, _SUM),
    "pooling_ndhwc_max": (_NDHWC, _MAX),
    "pooling_ndhwc_sum": (_NDHWC, _SUM),
}


def _define(
    base: type[SpelledOp], name: str, spelling: str, combine: Combine = _SUM, product: bool = True
) -> type[SpelledOp]:
    """Define the class of the operation `linalg.name`."""
    made = irdl_op_definition(type(f"{name}_op", (base,), {"name": f"linalg.{name}"}))
    made.SPELLING, made.COMBINE, made.IS_PRODUCT = spelling, combine, product
    return made


class _Parser:
    """A parser that also accepts several result types in parentheses."""

    def __init__(self, parser: Parser):
        self._parser = parser

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)

    def parse_comma_separated_list(
        self, delimiter: Any, parse: Callable[[], Any], context: str = ""
    ) -> list[Any]:
        """Parse a list; a list of types may be in parentheses."""
        if parse == self._parser.parse_attribute:
            inside = Parser.Delimiter.PAREN
            types = self._parser.parse_optional_comma_separated_list(inside, parse)
            if types is not None:
                return types
        return self._parser.parse_comma_separated_list(delimiter, parse, context)


class MultiResultGenericOp(ops.GenericOp):
    """xDSL's linalg.generic, extended to parse more than one result type."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return super().parse(cast(Parser, _Parser(parser)))


_OURS = [
    MultiResultGenericOp,
    *(_define(SpelledOp, name, text) for name, text in _PRODUCTS.items()),
    *(_define(SpelledWindowOp, name, text) for name, text in _CONVOLUTIONS.items()),
    *(
        _define(SpelledWindowOp, name, text, combine, False)
        for name, (text, combine) in _POOLS.items()
    ),
]
_names = {op.name for op in _OURS}

LINALG = Dialect(
    "linalg",
    [*(op for op in Linalg.operations if op.name not in _names), *_OURS],
    [*Linalg.attributes],
)
"""xDSL's linalg dialect with more of MLIR's named operations, and two fixes.

xDSL 0.74 cannot parse a `linalg.generic` with several results, and the body of its max pooling
combines with the window operand instead of the accumulator.
"""
