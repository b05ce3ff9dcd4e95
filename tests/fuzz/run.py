"""``make fuzz``: many hostile inputs; prints each fault with the words that repeat its case.

python tests/fuzz/run.py --cases 100000 --seed 1
python tests/fuzz/run.py --only toml:17
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from harness import sandbox
from kinds import case, cases


def main() -> int:
    """Run the cases that are asked for; 1 if one has faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="KIND[:NUMBER]", default="")
    args = parser.parse_args()
    kind, _, number = args.only.partition(":")
    chosen = [(kind, int(number))] if number else list(cases(args.cases, args.seed))
    took: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    wrong = 0
    with sandbox():
        for name, index in chosen:
            if kind and name != kind:
                continue
            began = time.process_time()
            found = case(name, index)
            took[name] += time.process_time() - began
            ran[name] += 1
            wrong += bool(found)
            for fault in found:
                print(f"{name}:{index}: {fault}", flush=True)
    for name, count in ran.items():
        print(f"{name}: {count:,} cases, {took[name]:.1f} s")
    print(f"{wrong} of {ran.total():,} cases have faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
