"""Unit costs: the fit is as near the syntheses as its file says, and those are of our blocks."""

import json

import pytest

from checkout import ROOT
from merp.models.comparison.costs import FILE, UNITS, units

FOUND = json.loads(FILE.read_text())
MEASURED = json.loads((ROOT / "tests" / "data" / "resources.json").read_text())


@pytest.mark.parametrize(
    "unit", FOUND["units"], ids=lambda unit: f"{unit['format']} {unit['kind']}"
)
def test_the_fit_is_within_its_residual(unit: dict) -> None:
    for kind, fit in unit["fit"].items():
        errors = [
            abs((fit["unit"] + fit["tap"] * each["k"] ** 2) / each[kind] - 1)
            for each in unit["grid"]
        ]
        assert max(errors) == pytest.approx(fit["residual"], abs=0.002)
        assert fit["residual"] < 0.1


def test_units_are_those_of_the_measured_engines() -> None:
    """A tree of 5 x 5 is 25 multipliers and adders, block by block, at 16 units as at two."""
    blocks = {block["name"]: block for block in MEASURED["fp, tree"]["blocks"]}
    expected = 25 * (blocks["fp_mul"]["lut"] + blocks["fp_add"]["lut"])
    (tree,) = (x for x in FOUND["units"] if (x["format"], x["kind"]) == ("binary32", "tree"))
    (five,) = (each for each in tree["grid"] if each["k"] == 5)
    assert five["lut"] == pytest.approx(expected, rel=0.02)
    assert five["dsp"] == 50


def test_a_unit_beyond_the_grid_is_assumed() -> None:
    assert {bits: units(bits, 3)["dsp"].value for bits in UNITS} == {32: 9, 16: 9}
    assert units(32, 5)["lut"].level == "synthesised"
    assert units(32, 11)["lut"].level == "assumed"
    assert units(16, 3, 7)["lut"].value == pytest.approx(7 * units(16, 3)["lut"].value)
    assert units(16, 3)["lut"].value < units(32, 3)["lut"].value
