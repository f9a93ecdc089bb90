"""A campaign: many damaged and hostile files, each of which must end in a sentence or compile.

    cd tests && python -m fuzz.hostile models --count 5000 --seed 1

prints each kind of fault with the seed of one file, and at the end the number of each verdict.
"""

from __future__ import annotations

import argparse
from collections import Counter

from .check import CHECKS
from .worker import outcomes


def main() -> int:
    """Run the campaign; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kind", choices=CHECKS)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="that of the first file")
    args = parser.parse_args()
    verdicts, places = Counter[str](), Counter[str]()
    for seed, outcome in outcomes(args.kind, range(args.seed, args.seed + args.count)):
        verdicts[outcome.verdict] += 1
        if outcome.verdict == "fault":
            places[outcome.place] += 1
            if places[outcome.place] == 1:
                print(f"{args.kind} {seed}: {outcome.place}: {outcome.detail!r}", flush=True)
    print(f"{args.count} {args.kind} from seed {args.seed}: {dict(verdicts.most_common())}")
    return int(verdicts["fault"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
