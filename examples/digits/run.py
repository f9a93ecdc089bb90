"""Compile digits.onnx, read held-out images on an OpenCL device, and count correct answers."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import clopt

FOLDER = Path(__file__).parent
RUNS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="part of a device's name; clopt-run --list-devices")
    options = parser.parse_args()

    with np.load(FOLDER / "held_out.npz") as data:
        images = data["images"][:, None].astype(np.float32) / 16
        labels = data["labels"]

    start = time.perf_counter()
    try:
        dims = {"batch": len(images)}
        model = clopt.compile(FOLDER / "digits.onnx", dims=dims, device=options.device)
    except clopt.CloptError as error:
        sys.exit(f"digits: {error}")
    compiled = time.perf_counter()
    (logits,) = model.run({"image": images})
    first = time.perf_counter()

    seconds: list[float] = []
    for _ in range(RUNS):
        start_run = time.perf_counter()
        model.run({"image": images})
        seconds.append(time.perf_counter() - start_run)

    right = int((logits.argmax(axis=1) == labels).sum())
    print(f"device:    {model.device_name}")
    print(f"accuracy:  {right / len(labels):.1%} ({right} of {len(labels)} held-out images)")
    print(f"compiling: {compiled - start:.2f} s, first run {first - compiled:.2f} s")
    print(f"running:   {1e6 * statistics.median(seconds) / len(labels):.1f} microseconds an image")


if __name__ == "__main__":
    main()
