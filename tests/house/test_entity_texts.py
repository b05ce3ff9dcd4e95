"""Docstrings of entities are headers of exported files: they hold for the instance in the file."""

import re

from checkout import ROOT

RANGE = re.compile(r"^ +(?:Latency|Throughput): \d+ to \d+", re.MULTILINE)


def test_no_header_gives_the_range_of_a_parameter_for_its_value() -> None:
    """An entity of latency 4 must not say that its latency is 1 to 5."""
    wrong = [str(path) for path in (ROOT / "hdl").rglob("*.py") if RANGE.search(path.read_text())]
    assert wrong == []
