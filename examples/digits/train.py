"""Train the network of this example, and write digits.onnx and held_out.npz.

Needs the extra `bench` (torch, scikit-learn) and about ten seconds. Both files are committed, so
run this only after changing the network. The split, the weights and the batches are seeded.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

FOLDER = Path(__file__).parent
EPOCHS = 30
BATCH = 64


def network() -> nn.Sequential:
    """Return two pooled blocks of convolution, batch norm and ReLU, then two dense layers."""

    def block(inputs: int, outputs: int) -> list[nn.Module]:
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        return [convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]

    head = [nn.Flatten(), nn.Linear(32 * 2 * 2, 64), nn.ReLU(), nn.Linear(64, 10)]
    return nn.Sequential(*block(1, 16), *block(16, 32), *head)


def train(images: torch.Tensor, labels: torch.Tensor) -> nn.Sequential:
    """Return the network after `EPOCHS` passes over the images."""
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def export(model: nn.Sequential, path: Path) -> None:
    """Write the ONNX file with a free batch size and without notes about this machine."""
    program = torch.onnx.export(
        model,
        (torch.zeros(2, 1, 8, 8),),
        input_names=["image"],
        output_names=["logits"],
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        dynamo=True,
        optimize=False,  # the batch norms stay, for clopt to fold
    )
    assert program is not None
    proto = program.model_proto
    del proto.graph.metadata_props[:]
    for item in [*proto.graph.node, *proto.graph.value_info, *proto.graph.input]:
        del item.metadata_props[:]
    for item in [*proto.graph.output, *proto.graph.initializer]:
        del item.metadata_props[:]
    onnx.save(proto, path)


def main() -> None:
    torch.manual_seed(0)
    digits = load_digits()
    images = digits.images.astype(np.uint8)
    split = train_test_split(
        images, digits.target, test_size=0.2, random_state=0, stratify=digits.target
    )
    train_images, held_images, train_labels, held_labels = split
    pixels = torch.from_numpy(train_images[:, None].astype(np.float32) / 16)
    model = train(pixels, torch.from_numpy(train_labels))
    export(model, FOLDER / "digits.onnx")
    np.savez_compressed(
        FOLDER / "held_out.npz", images=held_images, labels=held_labels.astype(np.uint8)
    )
    with torch.no_grad():
        logits = model(torch.from_numpy(held_images[:, None].astype(np.float32) / 16))
    right = (logits.argmax(1).numpy() == held_labels).mean()
    print(f"accuracy on {len(held_labels)} held-out images, in PyTorch: {right:.1%}")


if __name__ == "__main__":
    main()
