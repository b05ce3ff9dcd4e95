"""The records that the site's report is built with belong to the hardware as it is."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT
from merp.models.base.errors import BadInput
from merp.models.base.storage import TENSORS, stored_name
from merp.models.network.phases import called
from merp.tools.common.hardware import HARDWARE
from merp.tools.common.shipped import open_network
from merp.tools.machines.cnn_merp.report.measured import read_records
from merp.tools.report.record import FILE

AGAIN = "python docs/measure.py makes them anew; --no-runs renews those of the same Verilog"


@pytest.fixture(scope="module")
def measure() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "measure.py"))


def test_every_record_is_of_the_hardware_as_it_is(measure: dict[str, Any]) -> None:
    assert measure["stale"](measure["read"]()) == [], AGAIN


def test_every_record_confirms_its_pass(measure: dict[str, Any]) -> None:
    records = measure["read"]()
    assert {each.network for each in records} >= {"alexnet"}
    for network in {each.network for each in records}:
        here = [each for each in records if each.network == network]
        found = read_records([measure["MEASURED"] / network], open_network(network))
        assert [each.faults for each in found] == [()] * len(here)
        for measured, wanted in zip(found, here, strict=True):
            layer, phase = measured.layer, measured.phase
            assert (called(measured.network, layer, phase), phase) == (wanted.layer, wanted.phase)
            assert measured.groups == layer.groups
            assert phase in ("fp", "ff") or measured.deltas == wanted.deltas
            shown = {tensor: stored_name(measured.network.stored(tensor)) for tensor in TENSORS}
            shown["image"] = stored_name(measured.network.stored_input).split()[0]  # no scale
            assert shown.items() >= dict(wanted.storage).items()


def test_without_runs_no_record_is_lost_unless_it_is_said(
    measure: dict[str, Any], tmp_path: Path
) -> None:
    each, run = next(iter(measure["read"]().items()))
    other = run | {HARDWARE: "ab" * 32, measure["VERILOG"]: "cd" * 32}
    measure["write"]({each: other}, tmp_path)
    assert measure["renew"](tmp_path) == [each]
    assert measure["read"](tmp_path) == {each: other}
    assert measure["renew"](tmp_path, remove=True) == [each]
    assert measure["read"](tmp_path) == {}
    measure["write"]({each: run | {HARDWARE: "ab" * 32}}, tmp_path)
    assert measure["renew"](tmp_path) == []
    assert measure["read"](tmp_path) == {each: run}


def test_a_record_of_other_hardware_is_refused_in_one_line(
    measure: dict[str, Any], tmp_path: Path
) -> None:
    records = measure["read"]()
    each, run = next(iter(records.items()))
    folder = tmp_path / each.network
    measure["write"]({each: run}, tmp_path)
    assert measure["read"](tmp_path) == {each: run}
    assert read_records([folder], open_network("alexnet"))
    measure["write"]({each: run | {HARDWARE: "ab" * 32}}, tmp_path)
    assert measure["stale"](measure["read"](tmp_path)) == [each]
    said = f"hardware_sha = {'ab' * 32}: must be {run[HARDWARE]}, as the hardware is now"
    with pytest.raises(BadInput, match=re.escape(said)) as refused:
        read_records([folder], open_network("alexnet"))
    assert "\n" not in str(refused.value)
    assert f"merp simulate alexnet --layer {each.layer} --phase {each.phase}" in str(refused.value)
    (folder / FILE).write_text(json.dumps({"network": "alexnet", "runs": [run | {HARDWARE: 7}]}))
    with pytest.raises(BadInput, match="hardware_sha = 7: must be a name"):
        read_records([folder], open_network("alexnet"))


def test_the_sites_report_has_the_records_a_way_back_and_a_picture(
    measure: dict[str, Any],
) -> None:
    site = runpy.run_path(str(ROOT / "docs" / "site_report.py"))
    made = site["site_report"](ROOT / "docs", "https://example.org/merp/")
    text, picture = made[site["PAGE"]], made[site["PICTURE"]]
    passes = {
        (each.layer, each.phase) for each in measure["read"]() if each.network == site["NAME"]
    }
    own = {each for each in passes if each[1] not in ("bp", "ff")}  # the network's own phases
    confirmed = len(own)
    assert f"Confirmed in hardware {confirmed} of 23" in text
    assert text.count('class="basis measured"') >= confirmed
    assert 'href="../measured/alexnet/simulate.json"' in text
    assert 'href="../index.html"' in text
    assert 'content="https://example.org/merp/report/alexnet.png"' in text
    assert (picture[:8], picture[16:24]) == (
        b"\x89PNG\r\n\x1a\n",
        (1200).to_bytes(4, "big") + (630).to_bytes(4, "big"),
    )


@pytest.mark.full
def test_every_record_is_of_the_verilog_as_it_is(measure: dict[str, Any]) -> None:
    for each, run in measure["read"]().items():
        assert run[measure["VERILOG"]] == measure["exact"](each), (each, AGAIN)
