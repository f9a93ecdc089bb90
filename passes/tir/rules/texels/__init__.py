"""Rules for kernels that access texels."""
