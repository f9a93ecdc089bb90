"""Writes a network for the application: `python export.py model.onnx TARGET FOLDER`."""

import sys
from pathlib import Path

import clopt

model_path, target, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
model = clopt.compile(model_path, target, {"batch": 1})
folder.mkdir(parents=True, exist_ok=True)
(folder / "program.json").write_text(f"{model.describe()}\n")
model.weights.save(folder / "weights.safetensors")
