"""What follows from a record's rows and times, by hand; and its JSON."""

import json
from dataclasses import replace

import pytest

from comparison_record import RECORD, model
from merp.models.comparison.figure import Figure
from merp.models.comparison.record import FULL, Device, Excess, PhaseRow
from merp.models.comparison.record_json import as_json, record_of


def test_sums_are_those_of_the_rows() -> None:
    assert RECORD.macs == 2000
    assert RECORD.cycles() == Figure(280, "simulated")
    assert RECORD.cycles("fp") == model(210)
    assert RECORD.bytes(FULL) == model(76)
    assert RECORD.bytes(RECORD.classes("maps")) == Figure(64, "formula")
    assert RECORD.bytes(RECORD.classes("own")) == model(32)
    assert RECORD.mb_per_gflop(("maps",), "fp") == Figure(64 / 3000 * 1e3, "formula")
    assert RECORD.mb_per_gflop(("maps",), "ku") is None
    assert replace(RECORD, own=()).mb_per_gflop(()) is None


def test_rates_follow_from_the_interval() -> None:
    assert RECORD.images_per_s.value == pytest.approx(2e6)
    assert RECORD.gop_per_s.value == pytest.approx(2.0)
    assert RECORD.busy.value == pytest.approx(2000 / (10 * 100e6 * 2e-6))
    assert RECORD.busy.level == "assumed"  # the clock is
    assert RECORD.energy_j is not None
    assert RECORD.energy_j.value == pytest.approx(2 * 30 * 2e-6)
    assert replace(RECORD, power_w=None).energy_j is None


def test_energy_is_that_of_the_devices_at_work() -> None:
    energy = replace(RECORD, at_work=1).energy_j
    assert energy is not None
    assert energy.value == pytest.approx(30 * 2e-6)
    for count in (0, 3):
        with pytest.raises(ValueError, match=f"^{count} of 2 devices cannot be at work$"):
            replace(RECORD, at_work=count)


def test_block_ram_of_all_devices_is_known_or_not() -> None:
    assert RECORD.on_chip_bytes == model(7 * 20_480 / 8)
    unknown = replace(RECORD, devices=(RECORD.devices[0], Device()))
    assert unknown.on_chip_bytes is None


def test_what_is_exceeded_is_named_with_need_and_limit() -> None:
    assert RECORD.violated == (Excess(1, "dsp", 120, 100),)
    assert not RECORD.fits
    assert replace(RECORD, limits=RECORD.limits | {"dsp": 120}).fits


def test_a_record_is_its_json() -> None:
    text = json.dumps(as_json(RECORD))
    assert record_of(json.loads(text)) == RECORD
    assert json.dumps(as_json(record_of(json.loads(text)))) == text
    found = json.loads(text)
    assert found["totals"]["gop_per_s"]["level"] == "model"
    assert found["totals"]["idle"] == 1 - found["totals"]["busy"]["value"]
    assert found["totals"]["mb_per_gflop"]["link"]["value"] == 32 / 4000 * 1e3
    assert (found["fits"], found["violated"][0]["need"]) == (False, 120)


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^pins: must be of maps, again"):
        PhaseRow(layer="a", phase="fp", cycles=model(1), macs=1, bytes={"pins": model(1)})
    with pytest.raises(ValueError, match=r"^alm: must be of lut, ff"):
        Device(used={"alm": model(1)})
    with pytest.raises(ValueError, match=r"^cards: must be of"):
        replace(RECORD, own=("cards",))
    with pytest.raises(ValueError, match="every row must be of a device"):
        replace(RECORD, devices=RECORD.devices[:1])
