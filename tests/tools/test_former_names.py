"""Former names work as the new ones do, each with one line; docs/names.md lists them all."""

import json
import re
from pathlib import Path

import pytest

import merp
from checkout import ROOT
from merp.models.base.errors import BadInput
from merp.models.base.renamed import RenamedWarning
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.tools.common.command_line.parser import command_line
from merp.tools.common.data import DATA
from network_text import layer, network_text
from terminal import Terminal

PAGE = (ROOT / "docs" / "names.md").read_text().partition("## Rooms")[0]
ROWS = re.findall(r"^\| (.*) \| `(.*)` \| `(.*)` \|$", PAGE, re.MULTILINE)
ARCHITECTURES = [(former, now) for where, former, now in ROWS if "--architecture" in where]
DESIGNS = [(former, now) for where, former, now in ROWS if "[design." in where]


def test_the_page_lists_what_is_tried_here() -> None:
    others = {("--footing", "--count"), ("footing", "count"), ("footing", "counted")}
    others |= {("--fuse", "--layer-fusion"), ("fuse", "layer_fusion")}
    others |= {(f"--lr-{each}", f"--learning-rate-{each}") for each in ("decay", "every")}
    others |= {(f"lr_{each}", f"learning_rate_{each}") for each in ("decay", "every")}
    others |= {("--group", "--accumulate"), ("group", "accumulate")}
    words = {("paper", "maps"), ("full", "all"), ("fused", "combined")}
    listed = {(former, now) for _, former, now in ROWS}
    assert listed == others | words | {*ARCHITECTURES} | {*DESIGNS}
    assert len(ARCHITECTURES) == 3
    assert len(DESIGNS) == 2


@pytest.mark.parametrize(("former", "now"), [("paper", "maps"), ("full", "all")])
def test_a_former_option_answers_as_the_new_one(terminal: Terminal, former: str, now: str) -> None:
    ended = terminal.run("traffic", "digits", "--footing", former, "--footing", former, "--json")
    assert (ended.status, ended.out) == (
        0, terminal.output("traffic", "digits", "--count", now, "--json")
    )  # fmt: skip
    until = "now; the former name works until version 1.0"
    assert ended.err.splitlines() == [
        f"merp: {former} is called {now} {until}",
        f"merp: --footing is called --count {until}",
    ]


def test_a_former_option_is_refused_by_its_new_name(terminal: Terminal) -> None:
    ended = terminal.run("traffic", "digits", "--strategies", "--footing", "board")
    assert (ended.status, ended.err) == (2, "merp: --count board: allowed without --strategies\n")
    assert "--footing" not in terminal.output("traffic", "--help")


def test_former_keywords_and_attributes_of_python() -> None:
    net = merp.load("digits")
    with pytest.warns(RenamedWarning) as notices:
        former = net.traffic(batch=2, footing="full")  # type: ignore[call-arg]
    assert len(notices) == 2
    assert former.json() == net.traffic(batch=2, count="all").json()
    with pytest.warns(RenamedWarning, match="footing is called counted now"):
        assert former.footing is former.counted
    with pytest.raises(TypeError, match="footing"):
        net.traffic(footing="full", count="all")  # type: ignore[call-arg]
    with pytest.raises(BadInput, match="allowed are maps, all, board"):
        net.traffic(count="fill")


def test_the_former_option_of_an_architecture(terminal: Terminal) -> None:
    until = "now; the former name works until version 1.0"
    words = ("map", "lenet5", "--architecture", "fcnn", "--batch", "8", "--json")
    former = terminal.run(*words, "--group", "150")
    assert (former.status, former.out) == (0, terminal.output(*words, "--accumulate", "150"))
    assert former.err == f"merp: --group is called --accumulate {until}\n"
    assert json.loads(former.out)["options"]["group"] == 150
    assert "--group" not in terminal.output("map", "--help")
    other = terminal.run("map", "lenet5", "--architecture", "cnn-merp", "--group", "2")
    assert other.status == 2
    assert other.err == "merp: --accumulate: allowed only with --architecture fcnn\n"
    words = ("sweep", "lenet5", "--architecture", "fcnn", "--jobs", "1", "--json", "--over")
    former = terminal.run(*words, "group=1,150")
    assert (former.status, former.out) == (0, terminal.output(*words, "accumulate=1,150"))
    assert f"merp: group is called accumulate {until}" in former.err


def test_former_words_of_layer_fusion_and_of_a_combined_backward_pass(
    tmp_path: Path, terminal: Terminal
) -> None:
    path = tmp_path / "mine.toml"

    def read(*words: str) -> Network:
        head = "\n".join(('base = "digits"', "[network]", 'name = "mine"', *words))
        path.write_text(head + "\n")
        return read_network(path, DATA)

    now = read('layer_fusion = ["conv1", "conv2"]', 'backward = "combined"')
    with pytest.warns(RenamedWarning, match="is called"):
        assert read('fuse = ["conv1", "conv2"]', 'backward = "fused"') == now
    both = ('fuse = ["conv1", "conv2"]', 'layer_fusion = ["conv1", "conv2"]')
    with pytest.raises(BadInput, match="network: unknown key 'fuse': allowed are"):
        read(*both)
    read()
    asked = ("plan", path, "--board", "kc705")
    until = "now; the former name works until version 1.0"
    former = terminal.run(*asked, "--backward", "fused", "--fuse", "none", "--json")
    new = ("--backward", "combined", "--layer-fusion", "none", "--json")
    assert (former.status, former.out) == (0, terminal.output(*asked, *new))
    net = merp.load("digits")
    with pytest.warns(RenamedWarning, match="fuse is called layer_fusion now"):
        planned = net.plan("kc705", 4, fuse="none")  # type: ignore[call-arg]
    assert list(planned) == list(net.plan("kc705", 4, layer_fusion="none"))
    assert set(former.err.splitlines()) == {
        f"merp: fused is called combined {until}",
        f"merp: --fuse is called --layer-fusion {until}",
    }


@pytest.mark.parametrize(("former", "now"), ARCHITECTURES)
def test_former_names_of_architectures(former: str, now: str) -> None:
    with pytest.warns(RenamedWarning, match=f"{former} is called {now} now"):
        found = command_line({"train"}).parse_args(["train", "digits", "--architecture", former])
    assert found.architecture == now


@pytest.mark.parametrize(("former", "now"), DESIGNS)
def test_former_names_of_machines_in_files(tmp_path: Path, former: str, now: str) -> None:
    path = tmp_path / "mine.toml"
    size = {"pox": 4, "poy": 4, "pof": 4} if now == "mac-array" else {"k": 3, "n_cu": 3, "r": 1}

    def read(architecture: str) -> Network:
        path.write_text(
            network_text(
                "mine",
                (6, 6, 1),
                layer("conv1", 3, kernel=3, design="own"),
                designs={"own": {"architecture": architecture, **size}},
                **({"format": "fixed16"} if now == "mac-array" else {}),
            )
        )
        return read_network(path)

    plain = read(now)
    with pytest.warns(RenamedWarning, match=f"{former} is called {now} now"):
        assert read(former) == plain
