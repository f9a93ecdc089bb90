"""The lowering of quantised nn operations to VTA layers."""
