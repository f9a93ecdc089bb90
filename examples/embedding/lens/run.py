"""Find a digit on a strip of film: `python run.py [DEVICE]`, a part of its name."""

import sys
from pathlib import Path

import numpy as np
import pyopencl as cl
from lens.compiler import compile

import clopt

HERE = Path(__file__).parent
DIGITS = HERE.parents[1] / "digits"


def film(number: int, column: int, is_positive: bool) -> np.ndarray:
    """Return blank film with the held-out digit `number` on it, in twice its size."""
    with np.load(DIGITS / "held_out.npz") as data:
        digit = data["images"][number].astype(np.float32) / 16
    strip = np.zeros((16, 48), np.float32)
    strip[:, column : column + 16] = digit.repeat(2, 0).repeat(2, 1)
    return np.round(255 * (1 - strip if is_positive else strip)).astype(np.uint8)


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    device = next(each for each in clopt.list_devices() if part in str(each))
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    program = compile(HERE / "find_digit.mlir", {"digits": DIGITS / "digits.onnx"}, queue)
    for number, column in ((0, 5), (1, 20), (2, 32)):
        picture = film(number, column, is_positive=number == 1)
        where, digit, chance = program.call("find_digit", picture, 1)
        print(f"{digit} at column {where}, {chance:.0%}")


if __name__ == "__main__":
    main()
