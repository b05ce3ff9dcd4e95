"""Run ``make fuzz``: many hostile inputs; print each fault with the command that repeats its case.

python tests/fuzz/run.py --cases 100000 --seed 1 --jobs 2
python tests/fuzz/run.py --only toml:17
"""

import argparse
import sys
from collections import Counter

from kinds import cases
from ranges import in_processes


def main() -> int:
    """Run the requested cases; return 1 if one has faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", metavar="KIND[:NUMBER]", default="")
    args = parser.parse_args()
    kind, _, number = args.only.partition(":")
    chosen = [(kind, int(number))] if number else list(cases(args.cases, args.seed))
    chosen = [each for each in chosen if kind in ("", each[0])]
    took: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    faulty = 0
    for part in in_processes(chosen, args.jobs):
        took.update(part.took)
        ran.update(part.ran)
        faulty += len(part.faults)
        for (name, index), faults in part.faults.items():
            for fault in faults:
                print(f"{name}:{index}: {fault}", flush=True)
        done = f"{ran.total():,} of {len(chosen):,} cases, {faulty} with faults"
        print(done, file=sys.stderr, flush=True)
    for name, count in ran.items():
        print(f"{name}: {count:,} cases, {took[name]:.1f} s")
    print(f"{faulty} of {ran.total():,} cases have faults")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
