"""Export the benchmark networks to ONNX files: `python benchmarks/models.py [names] [--size N]`.

Missing files are written to a cache folder next to this script.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np

CACHE = Path(__file__).resolve().parent / ".models"
NAMES = (
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "resnet18",
    "resnet50",
    "vgg19",
    "squeezenet1_1",
    "efficientnet_lite0",
    "vit_tiny",
    "text_encoder",
    "yolo",
    "unet",
    "densenet121",
    "inception_v3",
)
UNTUNED = ("swin_t", "convnext_tiny", "regnet_y_400mf")
"""Networks of torchvision that no kernel was ever tuned for."""


def model_path(name: str, size: int = 224, variant: str = "", folder: Path = CACHE) -> Path:
    """Return the path of the exported network, which may not exist yet."""
    suffix = f"_{variant}" if variant else ""
    return folder / f"{name}_{size}{suffix}.onnx"


def export(
    name: str,
    size: int = 224,
    opset: int | None = None,
    legacy: bool = False,
    folder: Path = CACHE,
    force: bool = False,
    batch: int = 1,
) -> Path:
    """Export one network unless its file exists, and return the path.

    `opset` None is the exporter's default; `legacy` selects the TorchScript exporter, which keeps
    batch norms separate and writes old opsets.
    """
    parts = {"legacy": legacy, f"op{opset}": opset, f"batch{batch}": batch != 1}
    variant = "_".join(part for part, applies in parts.items() if applies)
    path = model_path(name, size, variant, folder)
    if path.exists() and not force:
        return path
    import networks
    import torch

    model = networks.build(name, size)
    inputs = networks.NETWORKS[name].inputs(size, batch)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    # Otherwise the old exporter folds batch norms, and nothing would test ours.
    extra: dict[str, Any] = {"training": torch.onnx.TrainingMode.PRESERVE} if legacy else {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            tuple(inputs.values()),
            str(temporary),
            input_names=list(inputs),
            opset_version=opset,
            dynamo=not legacy,
            external_data=False,
            verbose=False,
            **extra,
        )
    temporary.rename(path)
    return path


def sample_inputs(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Return seeded inputs for an exported network, from the graph's inputs."""
    import onnx

    rng = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray] = {}
    for value in onnx.load(path, load_external_data=False).graph.input:
        kind = value.type.tensor_type
        shape = tuple(d.dim_value for d in kind.shape.dim)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if np.issubdtype(dtype, np.floating):
            arrays[value.name] = rng.standard_normal(shape).astype(dtype)
        elif value.name == "mask":
            arrays[value.name] = np.tile(
                np.arange(shape[-1]) < shape[-1] * 3 // 4, (shape[0], 1)
            ).astype(dtype)
        else:
            arrays[value.name] = rng.integers(0, 8192, shape).astype(dtype)
    return arrays


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="name")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--opset", type=int, help="opset version (default: the exporter's)")
    parser.add_argument("--legacy", action="store_true", help="TorchScript exporter")
    parser.add_argument("--folder", type=Path, default=CACHE)
    parser.add_argument("--force", action="store_true", help="export again")
    args = parser.parse_args()
    unknown = sorted({*args.names} - {*NAMES, *UNTUNED})
    if unknown:
        choices = ", ".join([*NAMES, *UNTUNED])
        parser.error(f"unknown network {unknown[0]}; choose from {choices}")
    for name in args.names:
        path = export(name, args.size, args.opset, args.legacy, args.folder, args.force, args.batch)
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
