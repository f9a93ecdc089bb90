"""Frontends: importers from ONNX, MLIR linalg and torch.fx to the nn dialect."""
