"""Joint kernels: several kernels in one launch."""
