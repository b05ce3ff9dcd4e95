"""Networks from Python: loaded, listed, asked for their traffic."""

import json
import sys
from pathlib import Path

import pytest

import merp
from terminal import Terminal

NET = merp.load("alexnet")


def test_a_network_is_a_mapping_of_its_layers() -> None:
    assert list(NET) == ["conv1", "conv2", "conv3", "conv4", "conv5", "fc6", "fc7", "fc8"]
    assert len(NET) == 8
    assert "conv3" in NET
    assert "conv6" not in NET
    assert NET["conv2"].shape.k == 5
    assert repr(NET["fc6"]).endswith("design none>")
    assert NET.layers[1]["groups"] == 2
    assert [row["layer"] for row in NET.layers] == list(NET)


def test_a_file_is_loaded_as_a_shipped_name_is(tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "digits"\n\n[network]\nname = "mine"\n')
    assert merp.load(path).name == merp.load(str(path)).name == "mine"
    assert "digits" in merp.networks()


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("alexnte", "no network 'alexnte': allowed are "),
        (7, "load: 7: allowed is a name or a path"),
        (b"alexnet", "load: b'alexnet': allowed is a name or a path"),
        (Path("none.toml"), "none.toml: "),
    ],
)
def test_what_is_no_network_is_told(source: object, complaint: str) -> None:
    with pytest.raises(merp.BadInput) as told:
        merp.load(source)  # type: ignore[arg-type]
    assert str(told.value).startswith(complaint)


def test_a_layer_that_is_not_there_is_told() -> None:
    with pytest.raises(merp.BadInput, match="no layer 'conv9': allowed are conv1, "):
        NET["conv9"]
    with pytest.raises(merp.BadInput, match=r"^layer = 5: allowed is text$"):
        NET[5]  # type: ignore[index]


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ((), {}),
        (("--batch", "8", "--count", "all", "--state-bits", "pooled"),
         {"batch": 8, "count": "all", "state_bits": "pooled"}),
        (("--count", "board", "--memory", "400000"),
         {"count": "board", "memory_bytes": 400_000}),
    ],
)  # fmt: skip
def test_traffic_is_that_of_the_command_line(terminal: Terminal, options, arguments) -> None:
    counted = NET.traffic(**arguments)
    answer = json.loads(terminal.output("traffic", "alexnet", "--json", *options))
    assert counted.json() == answer
    told = {
        (layer["name"], phase): layer[phase]["bytes"]
        for layer in answer["layers"]
        for phase in ("fp", "dp", "ku")
        if layer[phase]
    }
    assert {(row["layer"], row["phase"]): row["bytes"] for row in counted} == told
    assert counted.total().bytes == answer["total_all"]["step"]["bytes"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"batch": 0}, "batch = 0: must be a whole number from 1 to 65536"),
        ({"batch": "8"}, "batch = '8': must be a whole number from 1 to 65536"),
        ({"count": "every"}, "count = 'every': allowed are maps, all, board"),
        ({"state_bits": "1"}, "state_bits = '1': allowed with count all or board"),
        ({"memory_bytes": 9}, "memory_bytes = 9: allowed with count board"),
    ],
)
def test_wrong_arguments_of_traffic_are_one_line(arguments, complaint) -> None:
    with pytest.raises(merp.BadInput) as told:
        NET.traffic(**arguments)
    assert str(told.value) == complaint


def test_rows_are_shown_and_become_a_data_frame(monkeypatch) -> None:
    counted = NET.traffic()
    shown = counted._repr_html_()
    assert shown.count("<tr>") == 1 + len(counted)
    assert "<th>mb_per_gflop</th>" in shown
    assert repr(counted) == "<Memory traffic of alexnet, batch 128, count maps: 23 rows>"
    assert counted[:2][1]["phase"] == "ku"
    given: list[object] = []
    monkeypatch.setitem(sys.modules, "pandas", type("pandas", (), {"DataFrame": given.append}))
    counted.to_pandas()
    assert given == [[dict(row) for row in counted]]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(merp.BadInput, match="pandas is not installed"):
        counted.to_pandas()


def test_a_name_of_a_users_is_no_html(tmp_path) -> None:
    rows = merp.Rows("<b>", [{"<i>": "<script>", "none": None}])
    assert "<script>" not in rows._repr_html_()
    assert "<td>-</td>" in rows._repr_html_()
