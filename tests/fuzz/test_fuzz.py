"""Hostile input by the thousand, and the cases that once found something.

``make fuzz`` runs fifty times as many.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kinds import KINDS, cases
from ranges import in_processes

SEEDS = json.loads(Path(__file__).with_name("seeds.json").read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_one_line_and_the_right_status(kind: str) -> None:
    chosen = [each for each in cases(SEEDS["cases"], SEEDS["seed"]) if each[0] == kind]
    known = [(kind, number) for number in SEEDS["found"].get(kind, ())]
    found = [part.faults for part in in_processes([*known, *chosen], jobs=1)]
    assert [faults for faults in found if faults] == []
