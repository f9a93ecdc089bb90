"""Ranges of sizes in a package: the program without its inputs for sizes, and the tables of sizes.

The contents of these inputs, for all sizes, are one constant of the package. The runtime copies
those for the current sizes on the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, IntAttr, IntegerAttr, MemRefType, ModuleOp, i8, i64

from ...dialects import cl
from ...errors import CloptError, warn
from ...restriction import input_name
from ...size_table import SizeTable
from ...weights import Weights
from ..programs import program_of
from .c_text import array, braces, reference, string
from .tables import Tables

_INPUT = "clopt.size_input"
_MOST_AXES = 32


@dataclass(frozen=True)
class PackageSizes:
    """The sizes that program 0 of a table serves."""

    table: SizeTable

    @classmethod
    def of(cls, table: SizeTable) -> PackageSizes:
        """Return the sizes; raise CloptError if the program serves no smaller ones."""
        rows = {sizes: row for sizes, row in table.rows.items() if row.program == 0}
        if any(row.shapes is None for row in rows.values()) or len(rows) == 1 < len(table.rows):
            raise CloptError(
                "A C package has one program, but each size of this model needs its own; bind the "
                "sizes by dims, or by --dim."
            )
        if any(len(port.shape) > _MOST_AXES for port in (*table.inputs, *table.outputs)):
            raise CloptError(f"A C package with open sizes has at most {_MOST_AXES} axes.")
        found = cls(replace(table, rows=rows))
        if len(rows) < len(table.rows):
            warn(
                f"The package serves {found.table.served}, because it has one program, and other "
                "sizes need their own; write another package for one of these by --dim."
            )
        return found

    @cached_property
    def offsets(self) -> Mapping[str, int]:
        """The byte offset of each array in the contents, by key."""
        offsets: dict[str, int] = {}
        end = 0
        for row in self.table.rows.values():
            for key in row.arrays:
                if key not in offsets:
                    offsets[key] = end
                    end += self.table.arrays[key].nbytes
        return offsets

    @cached_property
    def contents(self) -> bytes:
        """The bytes of all arrays."""
        arrays = (self.table.arrays[key] for key in self.offsets)
        little = (np.ascontiguousarray(each, each.dtype.newbyteorder("<")) for each in arrays)
        return b"".join(each.tobytes() for each in little)

    @property
    def input_count(self) -> int:
        """The number of inputs for sizes."""
        return len(next(iter(self.table.rows.values())).arrays)

    def add_contents(self, weights: Weights) -> str:
        """Add the contents to a store, and return their key."""
        return weights.add(np.frombuffer(self.contents, np.int8), "sizes")

    def hidden(self, module: ModuleOp, key: str) -> ModuleOp:
        """Return a copy of a module whose program has buffers in place of inputs for sizes."""
        module = module.clone()
        program = program_of(module)
        if any(port.image is not None for port in program.ports):
            raise CloptError("A C package with open sizes has no images; omit --image.")
        names = {input_name(i): i for i in range(self.input_count)}
        block, attributes = program.body.block, list(program.arg_attrs)
        for port, arg, attrs in zip(program.ports, list(block.args), program.arg_attrs):
            if port.name not in names:
                continue
            buffer = cl.AllocOp(cast("MemRefType", arg.type))
            buffer.attributes[_INPUT] = IntAttr(names[port.name])
            block.insert_op_before(buffer, cast("cl.ReturnOp", block.first_op))
            arg.replace_all_uses_with(buffer.result)
            block.erase_arg(arg)
            attributes.remove(attrs)
        if self.contents:
            constant = cl.ConstantOp(key, MemRefType(i8, [len(self.contents)]))
            block.insert_op_before(constant, cast("cl.ReturnOp", block.first_op))
        inputs = program.input_count - len(program.arg_attrs) + len(attributes)
        program.inputs = IntegerAttr(inputs, i64)
        program.arg_attrs = ArrayAttr(attributes)
        return module

    def print_tables(self, tables: Tables) -> str:
        """Return the tables of sizes for a plan."""
        rows = self.table.rows
        dims = [f"{braces([string(n), str(min(s)), str(max(s))])}," for n, s in self.ends.items()]
        roots = [f"{root}," for root in _input_roots(tables)]
        offsets = [_row(self.offsets[key] for key in row.arrays) for row in rows.values()]
        values = [f"{row.value or 0}," for row in rows.values()]
        return "\n".join(
            (
                array("static const clopt_dim dims", dims),
                "/* The sets of sizes. */",
                array("static const size_t size_dims", [*map(_row, rows)]),
                array("static const size_t size_shapes", self._shapes(tables)),
                array("static const size_t size_values", values),
                array("static const size_t size_offsets", offsets if roots else []),
                array("static const unsigned size_inputs", roots),
            )
        )

    def fields(self, tables: Tables, key: str) -> dict[str, str]:
        """Return the fields of a plan's `clopt_program`."""
        inputs = _input_roots(tables)
        numbers = [i for i, root in enumerate(tables.roots) if root.key == key]
        return {
            "size_dims": "size_dims",
            "size_shapes": "size_shapes",
            "size_values": "size_values",
            "size_offsets": reference("size_offsets", inputs),
            "size_count": str(len(self.table.rows)),
            "size_inputs": reference("size_inputs", inputs),
            "size_input_count": str(len(inputs)),
            "size_arrays": str(numbers[0] if numbers else 0),
            "served": string(self.table.served),
        }

    @property
    def ends(self) -> Mapping[str, list[int]]:
        """The sizes of each dimension."""
        names = enumerate(self.table.ranges)
        return {name: [sizes[i] for sizes in self.table.rows] for i, name in names}

    def _shapes(self, tables: Tables) -> list[str]:
        rows: list[str] = []
        for sizes, row in self.table.rows.items():
            dims = dict(zip(self.table.ranges, sizes, strict=True))
            shapes = self.table.shapes(dims, row)
            rows.append(_row(e for port in tables.program.ports for e in shapes[port.name]))
        return rows


def _row(numbers: Iterable[int]) -> str:
    return "".join(f"{number}, " for number in numbers).rstrip()


def _input_roots(tables: Tables) -> list[int]:
    """Return the roots of the inputs for sizes, in their order."""
    found: dict[int, int] = {}
    for op in tables.program.body.block.ops:
        if isinstance(op, cl.AllocOp) and _INPUT in op.attributes:
            found[cast("IntAttr", op.attributes[_INPUT]).data] = tables.numbers[op.result]
    return [found[i] for i in sorted(found)]
