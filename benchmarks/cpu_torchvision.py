"""Makes PyPI's torchvision importable with a CPU build of PyTorch. Import this module first.

It is built for CUDA, so its own operators are missing there. Its networks need none of them, but
importing it registers their shapes.
"""

from __future__ import annotations

from unittest import mock

import torch

with mock.patch.object(torch.library, "register_fake", return_value=lambda function: function):
    import torchvision

__all__ = ["torchvision"]
