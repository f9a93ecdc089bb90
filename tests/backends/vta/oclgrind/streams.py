"""Runs small streams with several lanes on Oclgrind's simulated device.

test_oclgrind.py starts it in a process of its own.
"""

from __future__ import annotations

import numpy as np

from clopt.backends.vta.core import CoreForm
from clopt.dialects.vta.config import Config
from support.vta import products  # noqa: F401  (its cases join the table)
from support.vta.cases import CASES
from support.vta.streams import machine

SMALL = Config(log_uop_buffer=9, log_inp_buffer=11, log_wgt_buffer=14, log_acc_buffer=13)
NAMES = (
    "padded_load 1 1 1 1",
    "padded_load_of_int8 0 3 2 1",
    "alu ADD None",
    "alu_in_order",
    "gemm_with_loops",
    "stored_and_loaded_again",
    "strided_load_of_weights",
)

for form in (CoreForm(lanes=32, vector=1), CoreForm(lanes=4, vector=16)):
    vta = machine("0", SMALL, form)
    for name in NAMES:
        case = CASES[name](SMALL, np.random.default_rng(4))
        case.check(vta.run(case), name)
