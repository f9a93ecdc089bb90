"""Import torchvision beside a PyTorch without CUDA; import this module first.

PyPI's torchvision is built for CUDA, so its own operators are missing there. Its networks need none
of them, but importing it registers their shapes.
"""

from __future__ import annotations

from unittest import mock

import torch

with mock.patch.object(torch.library, "register_fake", return_value=lambda function: function):
    import torchvision

__all__ = ["torchvision"]
