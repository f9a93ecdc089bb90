"""Importer of ONNX models to the nn dialect; the only package of clopt that imports onnx."""

from .importer import import_onnx

__all__ = ["import_onnx"]
