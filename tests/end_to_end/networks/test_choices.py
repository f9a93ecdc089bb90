"""Networks with other choices than clopt's own give onnxruntime's answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import clopt
from clopt.dialects.cl import EnqueueOffloadOp
from clopt.errors import CloptError
from clopt.tools import opt
from support.onnx.builders import Graph, image, inputs_for
from support.tuning.networks import assorted_network, grouped_network, separable_network

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"
WORDS = (
    ("form", "winograd 2", "direct"),
    ("form", "matmul", "direct"),
    ("form", "stacked", "flat"),
    ("layout", "plain", "#nn.layout<[1 by 8]>"),
    ("operands", "copied", "stored"),
    ("group", "merged", "apart"),
    ("fusion", "joined", "apart"),
    ("attention", "joined", "apart"),
    ("border", "memory", "loops"),
    ("place", "part", "kernel"),
    ("launch", "shared", "own"),
)
"""A kind of sites and two of its choices, without plans, which `test_plans.py` tries."""


PRINTED = "-p opencl -t choices -o".split()


def digits_network() -> onnx.ModelProto:
    """The digits example, for one picture."""
    model = onnx.load(DIGITS)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    return model


@dataclass(frozen=True)
class Case:
    """A network, its target, and the other choices that change its kernels."""

    network: Callable[[], onnx.ModelProto]
    target: str
    changes: set[str]
    skipped: str = ""
    """A kind whose words do not fit the target."""


BLOCKS = "pocl blocks=auto vector_width=8 l1_cache_bytes=65536"
"""With 32 KiB, a product of the digits network has two work-items, and shares no launch."""
PLAIN = "pocl blocks=off vector_width=8"
IMAGES = "adreno-740 texture=prefer fp16=false"
CASES = {
    "digits": Case(
        digits_network,
        BLOCKS,
        {
            *("form winograd 2", "layout plain", "layout #nn.layout<[1 by 8]>"),
            *("group apart", "launch own"),
        },
    ),
    "separable": Case(
        separable_network,
        BLOCKS,
        {
            *("layout plain", "layout #nn.layout<[1 by 8]>", "group apart"),
            *("fusion joined", "fusion apart"),
        },
    ),
    "separable, images": Case(
        separable_network,
        IMAGES,
        {"operands stored", "group apart"},
        skipped="layout",
    ),
    "assorted": Case(
        assorted_network,
        PLAIN,
        {
            *("form winograd 2", "form direct", "group apart", "attention apart"),
            *("border loops", "place kernel", "launch own"),
        },
    ),
    "grouped": Case(
        grouped_network,
        PLAIN,
        {
            *("form direct", "form flat", "group merged", "group apart"),
            *("border loops", "launch own"),
        },
    ),
}


@dataclass(frozen=True)
class Model:
    case: Case
    file: Path

    def written(self) -> str:
        """The choices that clopt makes for the model."""
        file = self.file.with_suffix(".choices")
        opt.main([str(self.file), "--target", self.case.target, *PRINTED, str(file)])
        return file.read_text()

    def compiled(self, device: str, choices: Path | None = None) -> clopt.CompiledModel:
        return clopt.compile(
            self.file, self.case.target, device=device, choices=choices, tuning="off"
        )


@pytest.fixture(scope="module", params=CASES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Model:
    case = CASES[request.param]
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(case.network(), path)
    return Model(case, path)


def changes(text: str) -> Iterator[tuple[str, str, str]]:
    """The kind, the site and the other choice of each site that has one."""
    for line in text.splitlines():
        kind, site, *chosen = line.split(maxsplit=2)
        words = next((two for of, *two in WORDS if of == kind and chosen[0] in two), ())
        yield from ((kind, site, word) for word in words if word != chosen[0])


def test_all_choices_give_the_same_program(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "all.choices"
    file.write_text(model.written())
    again = model.compiled("pocl", file)
    assert again.source == model.compiled("pocl").source
    assert not again.remarks


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
def test_each_other_choice_computes_the_same(model: Model, device: str, tmp_path: Path) -> None:
    session = onnxruntime.InferenceSession(model.file, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    rng = np.random.default_rng(0)
    inputs = {given.name: rng.standard_normal(given.shape).astype(np.float32)}
    wanted = session.run(None, inputs)[0]
    usual = model.compiled(device).source
    seen: set[str] = set()
    for number, (kind, site, word) in enumerate(changes(model.written())):
        if kind == model.case.skipped:
            continue
        file = tmp_path / f"{number}.choices"
        file.write_text(f"clopt-choices 1\n{kind} {site} {word}\n")
        changed = model.compiled(device, file)
        assert not changed.remarks, (kind, site, word)
        np.testing.assert_allclose(changed.run(inputs)[0], wanted, rtol=1e-4, atol=1e-4)
        assert changed.source != usual, (kind, site, word)
        seen.add(f"{kind} {word}")
    assert seen == model.case.changes


def islands() -> onnx.ModelProto:
    """CLML has no `Exp`: it computes that kernel's convolution, or nothing of it."""
    net = Graph(17)
    x = net.act(net.conv("image", 3, 16, stride=2), "relu")
    y = net.op("Exp", net.conv(x, 16, 16))
    return net.model([image(16)], net.conv(net.op("Add", net.conv(y, 16, 16, 1), x), 16, 8))


OFFLOAD = Case(islands, "adreno-740 texture=prefer clml=auto fp16=false winograd=off", {"offload"})


@pytest.mark.in_turns
def test_each_writer_computes_the_same(device: str, tmp_path: Path) -> None:
    network, file = islands(), tmp_path / "choices"
    onnx.save(network, path := tmp_path / "islands.onnx")

    def compiled(line: str) -> clopt.CompiledModel:
        file.write_text(f"clopt-choices 1\n{line}\n")
        library = {"clml": "reference"}
        return clopt.compile(
            path, OFFLOAD.target, device=device, choices=file, tuning="off", accelerators=library
        )

    inputs = inputs_for(network)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    wanted = session.run(None, inputs)[0]
    seen: dict[str, set[int]] = {}
    lines = Model(OFFLOAD, path).written().splitlines()
    for site in [line.split()[1] for line in lines if line.startswith("offload ")]:
        with pytest.raises(CloptError, match="it is kernels or clml") as error:
            compiled(f"offload {site} gpu")
        words = str(error.value).partition(": it is ")[2].removesuffix(".").split(" or ")
        for word in words:
            changed = compiled(f"offload {site} {word}")
            assert not changed.remarks
            np.testing.assert_allclose(changed.run(inputs)[0], wanted, rtol=1e-4, atol=1e-4)
            commands = sum(isinstance(op, EnqueueOffloadOp) for op in changed.module.walk())
            seen.setdefault(word, set()).add(commands)
    assert seen.keys() == {"kernels", "clml", "clml then kernels"}
    assert seen["kernels"] == {0}
    assert 0 not in seen["clml"] | seen["clml then kernels"]
