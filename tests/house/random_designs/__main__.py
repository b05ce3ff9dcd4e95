"""Print the counts of verdicts by feature.

::

    PYTHONPATH=tests/house python -m random_designs --engine ghdl --number 20 [feature ...]
"""

import argparse
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from random_designs.designs import program
from random_designs.features import EVERYTHING, FEATURES, alone
from random_designs.judging import judged


def main() -> None:
    """Print the counts of verdicts for each feature alone, for none and for all."""
    parser = argparse.ArgumentParser(
        prog="random_designs", description=main.__doc__, allow_abbrev=False
    )
    parser.add_argument("--engine", choices=("ghdl", "verilator"), default="ghdl")
    parser.add_argument("--number", type=int, default=20, help="designs for each feature (20)")
    parser.add_argument("features", nargs="*", help="features, if not all")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        _print_counts(options.engine, options.number, Path(folder), options.features)


def _print_counts(engine: str, number: int, folder: Path, wanted: list[str]) -> None:
    cases = {name: alone(name) for name in wanted or FEATURES}
    cases |= {} if wanted else {"(none)": frozenset(), "(all)": EVERYTHING}
    for at, (name, features) in enumerate(cases.items()):
        counts, firsts = counted(features, number, engine, folder / f"case{at}")
        shown = ", ".join(f"{count} {word}" for word, count in counts.most_common())
        print(f"{name}: {shown}", flush=True)
        for word, first in firsts.items():
            if word != "equal":
                print(f"    {first[:200]}", flush=True)


def counted(
    features: Collection[str], number: int, engine: str, folder: Path, seed: int = 1
) -> tuple[Counter[str], dict[str, str]]:
    """The verdicts on random designs: how many of each first word, and the first design of each.

    Args:
        features: of all of them. number: of designs. engine: of the verdicts.
        folder: where files are written. seed: of the designs.
    """
    found = [program(Random(f"{seed} {each}"), features) for each in range(number)]
    said = judged(found, engine, folder)
    counts = Counter(verdict.partition(":")[0] for verdict in said)
    firsts: dict[str, str] = {}
    for at, verdict in enumerate(said):
        firsts.setdefault(verdict.partition(":")[0], f"{folder / f'd{at}.py'}: {verdict}")
    return counts, firsts


if __name__ == "__main__":
    main()
