"""The graphs of a model as readable C; the same model gives the same bytes.

If the CLML header is older than a graph requires, the graph's tables cannot be compiled. They are
then excluded from the build, and creating the model fails with a message about the required
version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import Float16Type, FloatAttr

from ...dialects.clml import Layout, Usage
from ..host_c.c_text import INDENT, array, comment, filled, initialiser, reference, string
from .graphs import Graph, OperationRow, Tensor
from .operations import ARITHMETIC, KINDS, float_text

_LAYOUTS = {layout: f"CL_TENSOR_LAYOUT_{layout.name}_QCOM" for layout in Layout}
_USAGES = {usage: f"CLOPT_CLML_{usage.name}" for usage in Usage}
_WIDTH = 90
_OLDEST = 1  # the version that every header has


def print_graphs(graphs: Sequence[Graph], offsets: Mapping[str, int], name: str) -> str:
    """Return the tables `<name>_clml`; `offsets` are byte offsets in the weights file."""
    sections = [_print_graph(graph, offsets) for graph in graphs]
    rows = [
        initialiser(
            {"name": string(graph.name), "version": str(graph.op.version)},
            {
                "tensors": reference(f"tensors_{graph.name}", graph.tensors),
                "tensor_count": str(len(graph.tensors)),
            },
            {
                "operations": reference(f"operations_{graph.name}", graph.rows),
                "operation_count": str(len(graph.rows)),
            },
        )
        + ","
        for graph in graphs
    ]
    sections.append(array("static const clopt_clml_graph graphs", rows))
    version = max(graph.op.version for graph in graphs)
    if version > _OLDEST:
        stub = initialiser({"name": string(name), "version": str(version)})
        sections = [
            f"#if CLOPT_CLML_NEWEST >= {version}\n",
            *sections,
            "#else\n",
            array("static const clopt_clml_graph graphs", [f"{stub},"]),
            "#endif\n",
        ]
    sections.append(
        f"extern const clopt_clml_tables {name}_clml;\n"
        f"const clopt_clml_tables {name}_clml = {{graphs, sizeof graphs / sizeof *graphs}};\n"
    )
    return "\n".join(sections)


def _print_graph(graph: Graph, offsets: Mapping[str, int]) -> str:
    title = f"{graph.name}: arithmetic {graph.op.arithmetic_mode}, version {graph.op.version}."
    names = "".join(f"{INDENT}tensor_{tensor.symbol},\n" for tensor in graph.tensors)
    tensors = [
        f"[tensor_{tensor.symbol}] = {_tensor(tensor, offsets)}," for tensor in graph.tensors
    ]
    operations = [f"[{i}] = {_operation(graph, i, row)}," for i, row in enumerate(graph.rows)]
    descriptors = [text for i, row in enumerate(graph.rows) for text in _descriptors(graph, i, row)]
    return "\n".join(
        [
            f"{comment(title)}\nenum {{\n{names}}};\n",
            array(f"static const clopt_clml_tensor tensors_{graph.name}", tensors),
            *(["\n".join(descriptors) + "\n"] if descriptors else []),
            array(f"static const clopt_clml_operation operations_{graph.name}", operations),
        ]
    )


def _tensor(tensor: Tensor, offsets: Mapping[str, int]) -> str:
    half = isinstance(tensor.type.element_type, Float16Type)
    descriptor = [
        "CL_HALF_FLOAT" if half else "CL_FLOAT",
        _LAYOUTS[tensor.type.layout],
        *map(str, tensor.type.get_shape()),
        "0",
        "CL_TENSOR_DIMENSIONS_4D_QCOM",
        "{0}",
    ]
    return initialiser(
        {"name": string(tensor.name)},
        {"descriptor": f"{{{filled(descriptor, INDENT, _WIDTH - 10)}}}"},
        {
            "usage": _USAGES[tensor.type.usage],
            "is_row_major": "" if tensor.type.layout is Layout.OPTIMAL else "1",
            "bytes": str(tensor.bytes),
            "weights_offset": str(offsets[tensor.key]) if tensor.key else "",
        },
    )


def _descriptor_name(graph: Graph, index: int, field: str) -> str:
    return f"{field}_{graph.name}_{index}"


def _descriptors(graph: Graph, index: int, row: OperationRow) -> list[str]:
    arithmetic = ARITHMETIC[graph.op.arithmetic_of(row.op)]
    texts: list[str] = []
    for field, descriptor in KINDS[type(row.op)].descriptors.items():
        members = filled([*descriptor.members(row.op), arithmetic], INDENT, _WIDTH)
        type_ = f"cl_ml_op_{descriptor.name}_desc_qcom"
        name = _descriptor_name(graph, index, field)
        texts.append(f"static const {type_} {name} = {{\n{INDENT}{members}}};")
    return texts


def _operation(graph: Graph, index: int, row: OperationRow) -> str:
    kind = KINDS[type(row.op)]
    descriptors = {field: f"&{_descriptor_name(graph, index, field)}" for field in kind.descriptors}
    epsilon = row.op.properties.get("epsilon")
    tensors = filled(
        (
            "CLOPT_CLML_UNUSED" if number is None else f"tensor_{graph.tensors[number].symbol}"
            for number in row.tensors
        ),
        INDENT,
        _WIDTH,
    )
    return initialiser(
        {"name": string(row.name)},
        {"kind": f"&clopt_clml_{kind.name}"},
        *({field: name} for field, name in descriptors.items()),
        {"epsilon": float_text(epsilon.value.data) if isinstance(epsilon, FloatAttr) else ""},
        {"tensor_count": str(len(row.tensors))},
        {"tensors": f"(const unsigned[]){{\n{INDENT}{tensors}}}"},
    )
