"""Random designs give the same bits in MyHDL, in GHDL and in Verilator.

Design 17 of a seed is always the same: ``program(Random(f"{SEED} 17"))``. What fails is made
smaller before it is shown.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from random import Random

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase

from marks import engines
from random_designs import (
    FEATURES,
    Program,
    alone,
    judged,
    program,
    programs,
    reductions,
    shrunk,
)

SEED = 1
QUICK, ALL, BATCH = 60, 2000, 100
MOST_REFUSED = 0.05  # of all designs
GOOD = ("equal", "refused")

SHOWS = {
    "signed": r"min=-",
    "odd bounds": r"max=",
    "width 1": r"Signal\(intbv\(0\)\[1:\]",
    "wide": r"\[(2\d|3\d|40):\]",
    "modbv": r"modbv\(",
    "initial values": r"intbv\([1-9]\d*\)\[",
    "names": r"\bK\d",
    "big constants": r"\d{10}",
    "multiply": r" \* ",
    "divide": r" // .* % | % .* // ",
    "divide by signals": r" // \(\w+ \| 1\)",
    "negative divisors": r" // \(-",
    "casts": r"intbv\([^)]*[a-z].*\)\[\d+:\]",
    "modulo": r" % 2\*\*",
    "shift left": r" << \d",
    "shift right": r" >> \d",
    "shift by signals": r" >> \w",
    "invert": r"~",
    "minus": r"\(-\w",
    "conditional": r" if .* else ",
    "int()": r"int\(",
    "len": r"len\(",
    "abs": r"abs\(",
    "min max": r"min\(.*max\(",
    "slices": r"\[\d+:\d+\]",
    "concat": r"concat\(\w+.*,",
    "signed()": r"\.signed\(\)",
    "tuples": r"rom\d\[",
    "truths as numbers": r" [-+] (b\d|\(.* [<=>]+ )",
    "bits": r"\w\[\d+\]",
    "dynamic bits": r"\w\[[a-z(]",
    "chained": r"\w+ [<=>]+ \w+ [<=>]+ \w+",
    "in": r" in \(",
    "logic": r" and | or |not ",
    "bitwise truths": r"\(b\d [&|^] ",
    "bool()": r" bool\(\w+\)",
    "vectors as truths": r"if a\d+:",
    "int variables": r" n\d+ = ",
    "intbv variables": r" v\d+ = intbv\(",
    "bool variables": r" f\d+ = ",
    "in place": r" v\d+\[\d+(:\d+)?\] = ",
    "signals in place": r"\.next\[\d+(:\d+)?\] = ",
    "augmented": r"[nv]\d+ [+*&|^/<>]+= ",
    "loops": r"for \w+ in range\(",
    "breaks": r"break|continue",
    "elif": r"elif",
    "match": r"case ",
    "saturate": r"if \(.* > \d+\):\n +(\w+)\.next = \d+\n +elif",
    "functions": r"def fn\d",
    "procedures": r"def put\d",
    "always_seq": r"@always_seq\(clk.posedge, reset=rst\)",
    "async": r"isasync=True",
    "explicit reset": r"if (not )?rst:",
    "state machines": r" enum\(",
    "memories": r"for _ in range\(",
    "children": r"inst\d = child",
    "generic widths": r"\[W:\]",
    "constant actuals": r"inst\d = child.*(=|, )(\d|True|False)",
    "plain blocks": r"@block",
    "instance lists": r"= \[child.* for j\d in range",
}
"""What a source has in it that has a feature."""

every_engine = pytest.mark.parametrize("engine", engines("ghdl", "verilator"))


def design(number: int) -> Program:
    return program(Random(f"{SEED} {number}"))


def word(verdict: str) -> str:
    return verdict.partition(":")[0]


def check(numbers: Iterable[int], engine: str, folder: Path) -> None:
    """Compare designs in batches, and show the first failure, smaller."""
    found: dict[int, str] = {}
    left = list(numbers)
    while left:
        batch, left = left[:BATCH], left[BATCH:]
        said = judged(
            [design(number) for number in batch],
            engine,
            folder / f"from_{batch[0]}",
            [f"d{number}" for number in batch],
        )
        found |= dict(zip(batch, said, strict=True))
    counts = Counter(map(word, found.values()))
    summary = f"seed {SEED}, {engine}: " + ", ".join(f"{n} {kind}" for kind, n in counts.items())
    bad = {number: said for number, said in found.items() if word(said) not in GOOD}
    if bad:
        number, verdict = next(iter(bad.items()))
        small, said = shrunk(design(number), verdict, engine, folder / "shrunk")
        listed = "".join(f"\n  {each}: {why[:150]}" for each, why in list(bad.items())[:20])
        pytest.fail(f"{summary}{listed}\ndesign {number}, smaller: {said}\n\n{small}", False)
    refusals = Counter(said for said in found.values() if word(said) == "refused")
    listed = "".join(f"\n  {n} {why}" for why, n in refusals.most_common(10))
    assert counts["refused"] <= MOST_REFUSED * len(found), f"{summary}{listed}"


@pytest.mark.parametrize(
    "engine",
    [
        *engines("ghdl"),
        pytest.param("verilator", marks=(pytest.mark.full, pytest.mark.verilator)),
    ],
)
def test_random_designs_do_in_hdl_what_they_do_in_myhdl(engine: str, tmp_path: Path) -> None:
    check(range(QUICK), engine, tmp_path)


@pytest.mark.full
@every_engine
def test_many_random_designs_do_in_hdl_what_they_do_in_myhdl(engine: str, tmp_path: Path) -> None:
    check(range(QUICK, ALL), engine, tmp_path)


@pytest.mark.full
@pytest.mark.ghdl
def test_hypothesis_finds_no_design_that_differs(tmp_path: Path) -> None:
    folders = count()

    @hypothesis.seed(SEED)
    @hypothesis.settings(
        max_examples=300,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(programs())
    def holds(found: Program) -> None:
        [said] = judged([found], "ghdl", tmp_path / str(next(folders)))
        assert word(said) in GOOD, f"{said}\n\n{found}"

    holds()


@pytest.mark.sample(23)
@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_shows_where_it_is_wanted(feature: str) -> None:
    wanted = re.compile(SHOWS[feature])
    texts = [str(program(Random(f"{feature} {n}"), alone(feature))) for n in range(50)]
    assert any(map(wanted.search, texts)), "it does not show"
    texts = [str(program(Random(f"{feature} {n}"), ())) for n in range(50)]
    assert not any(map(wanted.search, texts)), "it shows without being wanted"


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="no such feature: magic"):
        program(Random(1), ["magic"])


def test_reductions_are_other_programs() -> None:
    whole = design(0)
    texts = {str(each) for each in reductions(whole)}
    assert len(texts) > 20
    assert str(whole) not in texts
