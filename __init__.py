"""clopt: a compiler from ONNX to OpenCL, built on xDSL."""
