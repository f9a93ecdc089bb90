"""`vta.binary`: a graph as encoded instructions, micro-ops and constants, ready to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, MemRefType, ModuleOp, StringAttr, i8
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from ..cl import target_of
from ..offload import CommandWork, OffloadGraphOp, Tensors
from ..properties import I64, I64_ARRAY, int_array, integer, ints, text
from .attributes import DramKind, DramType
from .config import INSTRUCTION_BYTES, UOP_BYTES, Config, ConfigAttr
from .facts import VTAFacts
from .isa import Memory
from .memory_layout import layout_of
from .program import parse_config

MOST_TENSORS = 16
"""Tensors to which the instructions of one binary may refer, at most."""

_PADS = (Memory.UOP, Memory.INP, Memory.WGT, Memory.ACC, Memory.OUT)


@dataclass(frozen=True)
class StoredArray:
    """An array of the weights store, and its number of elements."""

    key: str
    count: int


@dataclass(frozen=True)
class Code:
    """The arrays of a binary; None for empty arrays."""

    instructions: StoredArray
    """uint64 (n, 2): encoded instructions.

    DRAM addresses of activations count elements from the start of their tensor.
    """
    relocations: StoredArray
    """uint8 (n): the number of each instruction's tensor; 0 if it has none."""
    uops: StoredArray | None = None
    """uint32 (n): encoded micro-ops, the memory UOP in DRAM."""
    weights: StoredArray | None = None
    """int8 (n, block_out, block_in): the memory WGT in DRAM."""
    biases: StoredArray | None = None
    """int32 (n, batch, block_out): the memory ACC in DRAM."""

    @property
    def arrays(self) -> dict[str, StoredArray]:
        """Return the non-empty arrays by name."""
        return {name: array for name, array in vars(self).items() if array is not None}


@dataclass(frozen=True)
class TensorCounts:
    """The numbers of input, output and scratch tensors of a binary, in this order."""

    inputs: int
    outputs: int
    scratch: int = 0


@irdl_op_definition
class BinaryOp(OffloadGraphOp):
    """A graph that is one command: a stream of encoded instructions on tensors.

    ```
    vta.binary @relu(%x: !vta.dram<act, 64>) -> (%y: !vta.dram<act, 64>) scratch ()
      #vta.config<1x16_i8w8a32_15_15_18_17> multiply_adds 0
      instructions "i_0123456789abcdef"[5] relocations "r_0123456789abcdef"[5] uops "u_…"[1]
    ```

    The memory plan decides where the tensors are: relocations name the tensor of each LOAD or STORE
    of activations. `scratch` are the tensors between layers.
    """

    name = "vta.binary"
    ACCELERATOR: ClassVar[str] = "VTA"

    config_attr = prop_def(ConfigAttr, prop_name="config")
    multiply_adds_attr = prop_def(I64, prop_name="multiply_adds")
    tensor_counts_attr = prop_def(I64_ARRAY, prop_name="tensor_counts")
    array_names = prop_def(ArrayAttr[StringAttr])
    array_keys = prop_def(ArrayAttr[StringAttr])
    array_counts = prop_def(I64_ARRAY)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(
        self,
        name: str,
        config: Config,
        tensors: Sequence[DramType],
        counts: TensorCounts,
        code: Code,
        multiply_adds: int = 0,
    ):
        """Create the operation; `tensors` are the inputs, the outputs, then the scratch."""
        arrays = code.arrays
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "config": ConfigAttr(config),
                "multiply_adds": integer(multiply_adds),
                "tensor_counts": int_array([counts.inputs, counts.outputs, counts.scratch]),
                "array_names": ArrayAttr(StringAttr(name) for name in arrays),
                "array_keys": ArrayAttr(StringAttr(array.key) for array in arrays.values()),
                "array_counts": int_array([array.count for array in arrays.values()]),
            },
            regions=[Region(Block(arg_types=tensors))],
        )

    @property
    def config(self) -> Config:
        """Return the configuration of the core."""
        return self.config_attr.data

    @property
    def code(self) -> Code:
        """Return its arrays."""
        return Code(**self._arrays)

    @property
    def _arrays(self) -> dict[str, StoredArray]:
        names, keys = (
            [text(a) or "" for a in attrs] for attrs in (self.array_names, self.array_keys)
        )
        arrays = map(StoredArray, keys, ints(self.array_counts))
        return dict(zip(names, arrays, strict=True))

    @property
    def all_tensors(self) -> tuple[BlockArgument, ...]:
        """Return its tensors in the order of their relocation numbers."""
        return tuple(self.body.block.args)

    @property
    def tensor_types(self) -> list[DramType]:
        """Return the types of its tensors."""
        return [cast("DramType", tensor.type) for tensor in self.all_tensors]

    @property
    def counts(self) -> TensorCounts:
        """Return its numbers of inputs, outputs and scratch tensors."""
        return TensorCounts(*ints(self.tensor_counts_attr))

    @property
    def commands(self) -> Sequence[Operation]:
        return (self,)

    @property
    def inputs(self) -> tuple[BlockArgument, ...]:
        return self.all_tensors[: self.counts.inputs]

    @property
    def outputs(self) -> tuple[BlockArgument, ...]:
        first = self.counts.inputs
        return self.all_tensors[first : first + self.counts.outputs]

    def tensors(self, command: Operation) -> Tensors:
        return Tensors(self.inputs, self.outputs)

    def memory_type(self, tensor: SSAValue) -> MemRefType:
        assert isinstance(tensor.type, DramType)
        return MemRefType(i8, [tensor.type.elements, *self.config.element_shape(Memory.OUT)])

    def scratch(self, command: Operation) -> Sequence[MemRefType]:
        """Return the tensors between layers, then the scratchpads if the core has none.

        A core that is a program binary takes all tensors in one memory.
        """
        pads, facts = MemRefType(i8, [scratchpad_bytes(self.config)]), self._facts
        if not facts.vta_program:
            return [*map(self.memory_type, self._between), pads]
        memory = MemRefType(i8, [layout_of(self, facts.vta_memory).bytes])
        return [memory, pads] if "scratch" in facts.arguments else [memory]

    @property
    def _facts(self) -> VTAFacts:
        module = self.get_toplevel_object()
        return VTAFacts.of(target_of(module)) if isinstance(module, ModuleOp) else VTAFacts()

    @property
    def weight_keys(self) -> list[str]:
        return [array.key for array in self.code.arrays.values()]

    @property
    def constant_bytes(self) -> int:
        sizes = {
            "instructions": INSTRUCTION_BYTES,
            "relocations": 1,
            "uops": UOP_BYTES,
            "weights": self.config.element_bytes(Memory.WGT),
            "biases": self.config.element_bytes(Memory.ACC),
        }
        return sum(sizes[name] * array.count for name, array in self.code.arrays.items())

    def work(self, command: Operation) -> CommandWork:
        tensors = (self.memory_type(tensor) for tensor in (*self.inputs, *self.outputs))
        elements = sum(type_.element_count() for type_ in tensors)
        return CommandWork(self.multiply_adds_attr.value.data, self.constant_bytes + elements)

    def verify_(self) -> None:
        found = len(self.array_names), len(self.array_keys), len(ints(self.array_counts))
        names = self._arrays if len(set(found)) == 1 else {}
        known = Code.__dataclass_fields__
        if list(names) != [name for name in known if name in names] or len(names) != found[0]:
            raise VerifyException(
                f"its arrays must be {', '.join(known)}, each at most once, in order"
            )
        if (
            "instructions" not in names
            or names["relocations"].count != self.code.instructions.count
        ):
            raise VerifyException("it must have instructions and one relocation per instruction")
        if any(array.count < 1 for array in names.values()):
            raise VerifyException("an array must not be empty; omit it instead")
        self._verify_tensors()

    def _verify_tensors(self) -> None:
        counts, tensors = ints(self.tensor_counts_attr), self.all_tensors
        if len(counts) != 3 or min(counts) < 0 or sum(counts) != len(tensors):
            raise VerifyException(
                "tensor_counts must be the numbers of inputs, outputs and scratch tensors"
            )
        if not 1 <= self.counts.outputs or len(tensors) > MOST_TENSORS:
            raise VerifyException(
                f"it must return at least one tensor and have at most {MOST_TENSORS}, not "
                f"{self.counts.outputs} and {len(tensors)}"
            )
        for tensor in tensors:
            if not isinstance(tensor.type, DramType) or tensor.type.kind is not DramKind.ACT:
                raise VerifyException(f"its tensors must be !vta.dram<act, …>, not {tensor.type}")

    @classmethod
    def parse(cls, parser: Parser) -> BinaryOp:
        name = parser.parse_symbol_name().data

        def tensors() -> list[Parser.Argument]:
            return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)

        inputs = tensors()
        parser.parse_punctuation("->")
        outputs = tensors()
        scratch = tensors() if parser.parse_optional_keyword("scratch") else []
        config = parse_config(parser)
        parser.parse_keyword("multiply_adds")
        multiply_adds = parser.parse_integer()
        arrays: dict[str, StoredArray] = {}
        for array in Code.__dataclass_fields__:
            if parser.parse_optional_keyword(array):
                key = parser.parse_str_literal()
                with parser.in_square_brackets():
                    arrays[array] = StoredArray(key, parser.parse_integer())
        arguments = [*inputs, *outputs, *scratch]
        start = parser.pos
        if not {"instructions", "relocations"} <= arrays.keys():
            parser.raise_error("expected instructions and relocations", start, start + 1)
        types = [cast("DramType", argument.type) for argument in arguments]
        counts = TensorCounts(len(inputs), len(outputs), len(scratch))
        op = cls(name, config, types, counts, Code(**arrays), multiply_adds)
        for value, argument in zip(op.all_tensors, arguments, strict=True):
            value.name_hint = argument.name.text[1:]
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.enter_scope()
        lists = (("", self.inputs), (" -> ", self.outputs), (" scratch ", self._between))
        for before, tensors in lists:
            if tensors or before != " scratch ":
                printer.print_string(before)
                with printer.in_parens():
                    printer.print_list(tensors, printer.print_block_argument)
        printer.exit_scope()
        printer.print_string(" ")
        printer.print_attribute(self.config_attr)
        printer.print_string(f" multiply_adds {self.multiply_adds_attr.value.data}")
        for name, array in self.code.arrays.items():
            printer.print_string(f" {name} ")
            printer.print_string_literal(array.key)
            printer.print_string(f"[{array.count}]")
        printer.print_op_attributes(self.attributes)

    @property
    def _between(self) -> tuple[BlockArgument, ...]:
        counts = self.counts
        return self.all_tensors[counts.inputs + counts.outputs :]


def scratchpad_bytes(config: Config) -> int:
    """Return the maximum bytes of a core's scratchpads.

    Some cores keep inputs and weights in 32 bits per element.
    """
    wide = {Memory.INP: 4, Memory.WGT: 4}
    return sum(
        config.depth(memory) * config.element_bytes(memory) * wide.get(memory, 1)
        for memory in _PADS
    )
