"""A campaign: many random schedules, compared with the interpreter and, some, with a device.

    cd tests && python -m fuzz.schedules --count 5000 --seed 1 --device intel-cpu

prints what is wrong as it is found, and at the end how many steps were accepted and refused.
"""

from __future__ import annotations

import argparse
from collections import Counter

from .check import check


def main() -> int:
    """Run the campaign; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="that of the first schedule")
    parser.add_argument("--device", help="run what could be lowered there as well")
    parser.add_argument("--batch", type=int, default=50, help="kernels in one program")
    args = parser.parse_args()
    accepted, refused, changed = Counter[str](), Counter[str](), Counter[str]()
    faults = lowered = 0
    for first in range(args.seed, args.seed + args.count, args.batch):
        outcomes = [
            check(seed) for seed in range(first, min(first + args.batch, args.seed + args.count))
        ]
        for outcome in outcomes:
            accepted.update(step.split()[0] for step in outcome.accepted)
            refused.update(outcome.refused)
            changed.update(step.split()[0] for step in outcome.changed)
            lowered += outcome.lowered is not None
        if args.device:
            from .device import run_all

            run_all([o for o in outcomes if o.lowered is not None], args.device)
        for outcome in outcomes:
            if outcome.fault:
                faults += 1
                print(outcome, flush=True)
    print(f"{args.count} schedules from seed {args.seed}: {faults} wrong, {lowered} lowered")
    print("accepted:", dict(accepted.most_common()))
    print("refused:", dict(refused.most_common()))
    print("changed something and were refused:", dict(changed.most_common()))
    return int(faults > 0)


if __name__ == "__main__":
    raise SystemExit(main())
