"""VTA, a tensor accelerator programmed by instructions: its oracles, and its core in OpenCL C."""
