"""Verbs that reckon, of a network that goes back in one pass: traffic, plan, report, sweep."""

import json
from pathlib import Path

import pytest

import merp
from merp.tools.cli import main
from terminal import Terminal

FUSED = ("--backward", "combined")


def test_traffic_of_alexnet(terminal: Terminal) -> None:
    found = terminal.answer("traffic", "alexnet", *FUSED)
    assert (found["footing"], found["state_bits"], found["backward"]) == ("full", "pooled", "fused")
    assert found["total"]["step"]["mb_per_gflop"] == pytest.approx(1.729, abs=5e-4)
    conv1, conv2 = found["layers"][:2]
    assert (conv1["bp"], conv1["ku"] is None) == (None, False)
    assert (conv2["dp"], conv2["ku"]) == (None, None)
    assert conv2["bp"]["operations"] == 2 * conv2["fp"]["operations"]
    apart = terminal.answer("traffic", "alexnet", "--count", "all", "--state-bits", "pooled")
    assert "backward" not in apart
    assert "bp" not in apart["layers"][1]
    both = apart["layers"][1]["dp"]["bytes"] + apart["layers"][1]["ku"]["bytes"]
    streams = conv2["bp"]["streams"]
    once = sum(streams[port] for port in ("delta_in", "state_in", "kernel"))
    assert both - conv2["bp"]["bytes"] == once
    assert "BP: DP and KU in one pass" in terminal.prose("traffic", "alexnet", *FUSED)


def test_a_plan_says_which_layers_run_apart(terminal: Terminal) -> None:
    found = terminal.answer("plan", "alexnet", "--board", "kc705", *FUSED)
    assert found["backward"] == "fused"
    assert [row["name"] for row in found["layers"] if row["phase"] == "bp"] == ["conv2"]
    assert found["total"]["bp"]["bytes"] == 99_735_552
    assert found["total"]["step"]["mb_per_gflop"] == pytest.approx(2.198, abs=5e-4)
    assert ("k5", "bp") in {(each["design"], each["phase"]) for each in found["bitstreams"]}
    printed = terminal.prose("plan", "alexnet", "--board", "kc705", "--batch", "2", *FUSED)
    assert "or they do not fit undivided: conv3, conv4, conv5." in printed
    board = terminal.answer("traffic", "alexnet", "--board", "kc705", *FUSED)
    assert board["layers"][1]["bp"]["bytes"] == 99_735_552


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("traffic", "alexnet", *FUSED, "--count", "maps"), "allowed are counts all and"),
        (("traffic", "alexnet", *FUSED, "--count", "all", "--state-bits", "1"), "state pooled"),
        (
            ("traffic", "alexnet", *FUSED, "--strategies"),
            "--backward combined: allowed without",
        ),
        (("traffic", "resnet-digits", *FUSED), "layer conv2: runs on a design for smaller"),
        (("plan", "digits", "--board", "kc705", *FUSED, "--state-bits", "32"), "allowed is state"),
        (("report", "resnet-digits", *FUSED), 'or backward = "separate"'),
    ],
    ids=str,
)
def test_what_one_pass_does_not_take_is_one_line(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(words)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1


def test_the_page_has_the_pass_in_tables_and_charts(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["report", "digits", "--batch", "2", *FUSED, "-o", str(page)]) == 0
    found = json.loads(page.with_suffix(".json").read_text())
    rows = {name: table["rows"] for name, table in found["tables"].items()}
    assert rows["traffic-pooled"][1]["bp_bytes"] > 0
    assert rows["traffic-pooled"][1]["dp_bytes"] is None
    assert "bp_bytes" not in rows["traffic-paper"][1]
    for table in ("cycles", "roofline", "plan", "bitstreams"):
        assert [r["phase"] for r in rows[table] if r["phase"] == "BP"], table
    assert "conv2 BP" in page.read_text()
    steps = found["alternatives"]["variants"]
    assert "base 134.88, masks 114.52, pooled deltas 94.99, + one pass 74.59, " in steps
    assert steps.endswith("Measured: none.")


def test_the_library_takes_the_same_word() -> None:
    net = merp.load("digits")
    rows = net.traffic(2, backward="combined")
    assert [row["phase"] for row in rows if row["layer"] == "conv2"] == ["fp", "bp"]
    planned = net.plan("kc705", 2, backward="combined")
    assert [row["phase"] for row in planned if row["name"] == "conv2"] == ["fp", "bp"]
    with pytest.raises(merp.BadInput, match=r"backward = 'both': allowed are separate, combined"):
        net.traffic(2, backward="both")


def test_a_sweep_of_a_network_that_goes_back_so(tmp_path: Path, terminal: Terminal) -> None:
    """A point that one pass does not take is refused by itself."""
    path = tmp_path / "fused.toml"
    path.write_text('base = "digits"\n[network]\nname = "fused"\nbackward = "combined"\n')
    found = terminal.answer("sweep", path, "--over", "map_port=1,2", "--for", "time,bytes")
    one, two = found["points"]
    assert one["bytes"] == merp.load(str(path)).traffic(128).total("step").bytes
    assert one["time"] > 0
    assert "several elements a beat" in two["refused"]


def test_designs_are_explored_with_both_phases_apart(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "fused.toml"
    path.write_text('base = "digits"\n[network]\nname = "fused"\nbackward = "combined"\n')
    line = terminal.refusal("explore", path, "--board", "kc705")
    assert "priced with separate backward passes" in line
