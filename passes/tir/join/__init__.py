"""Several kernels in one launch."""
