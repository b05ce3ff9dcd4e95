"""``merp schema``: what the reader of a network file takes, as far as a schema can say it."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from merp.models.base.errors import BadInput
from merp.models.network.network_file import read_network
from merp.tools.common.data import DATA
from merp.tools.common.shipped import open_network, shipped_names
from merp.tools.networks.schema import network_schema
from terminal import Terminal

SCHEMA = network_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

HEAD = """
[network]
name = "t"
input = { rows = 6, columns = 8, channels = 4 }
"""
CONV = """
[[layer]]
name = "conv1"
maps = 6
kernel = 3
"""
DESIGN = """
design = "a"

[design.a]
k = 3
n_cu = 2
"""
POOL = "pool = { kind = 'max', window = 2 }\n"
WHOLE = HEAD + CONV + POOL + DESIGN
OVER = 'base = "digits"\n'


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_networks_validate(name: str) -> None:
    VALIDATOR.validate(tomllib.loads((DATA / f"{name}.toml").read_text()))


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        HEAD + CONV + '[[layer]]\nname = "fc2"\nmaps = 2\nrelu = false\n',
        HEAD + CONV + "pad = [0, 1, 2, 1]\n",
        WHOLE + 'architecture = "cnn_merp"\ncu_kind = "fused"\nfused_window = 30\n',
        HEAD + "storage = { maps = 'bfloat16', gradients = 'binary16' }\n" + CONV,
        HEAD + "storage = { image = 'uint8', image_scale = '2/255', image_offset = -1 }\n" + CONV,
        OVER + "[network]\nstorage = { deltas = 'bfloat16' }\n",
        OVER,
        "file_format = 1\n" + WHOLE,
        "file_format = 1\n" + OVER,
        OVER + '[network]\nname = "mine"\n[layer.conv2]\npool = { kind = "average" }\n'
        "[design.k3]\nn_cu = 4\n",
    ],
)
def test_good_files_validate_as_they_are_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert open_network(str(path)).layers
    VALIDATOR.validate(tomllib.loads(text))


BAD = {
    "": "empty",
    "file_format = 2\n" + WHOLE: "a newer format",
    "file_format = 0\n" + OVER: "no format number",
    "file_format = true\n" + WHOLE: "a format that is no number",
    CONV: "no network",
    HEAD: "no layer",
    "layer = []\n" + HEAD: "no layer in the list",
    HEAD.replace("rows = 6", "rows = 0") + CONV: "no rows",
    HEAD.replace("rows = 6", "rows = 4097") + CONV: "too many rows",
    HEAD.replace("rows = 6, ", "") + CONV: "rows missing",
    HEAD.replace("rows = 6", "row = 6") + CONV: "an unknown key of the input",
    HEAD.replace('"t"', '"/t"') + CONV: "no name",
    HEAD + 'format = "float"\n' + CONV: "no format",
    HEAD + "extra = 1\n" + CONV: "an unknown key of the network",
    HEAD + CONV.replace("conv1", "pool1"): "no kind of layer",
    HEAD + CONV.replace("conv1", "conv/1"): "no name of a layer",
    HEAD + CONV.replace("conv1", "fc1"): "a kernel of a full connection",
    HEAD + CONV + "strid = 1\n": "an unknown key of a layer",
    HEAD + CONV.replace("kernel = 3\n", ""): "no kernel",
    HEAD + CONV.replace("maps = 6", "maps = 65537"): "too many maps",
    HEAD + CONV.replace("maps = 6", "maps = true"): "maps that are no number",
    HEAD + CONV + "relu = 1\n": "no flag",
    HEAD + CONV + "pad = -1\n": "negative padding",
    HEAD + CONV + "pad = [1, 1]\n": "padding of two sides",
    HEAD + CONV + "pad = [0, 1, 2, 4096]\n": "too much padding of a side",
    HEAD + CONV + "pool = { kind = 'mean', window = 2 }\n": "no kind of pooling",
    HEAD + CONV + "pool = { kind = 'max' }\n": "no window",
    WHOLE.replace("k = 3", "k = 12"): "too large a kernel of a design",
    WHOLE.replace("n_cu = 2", ""): "no CUs",
    HEAD + "storage = { maps = 'fp8' }\n" + CONV: "no format in memory",
    HEAD + "storage = 'bfloat16'\n" + CONV: "one format of all in memory",
    HEAD + "storage = { maps = 'uint8' }\n" + CONV: "maps in bytes",
    HEAD + "storage = { image = 'uint8', image_scale = '1/0' }\n" + CONV: "no scale",
    OVER + "[network]\nstorage = { map = 'bfloat16' }\n": "an unknown tensor, over a base",
    WHOLE + "n_cus = 2\n": "an unknown key of a design",
    WHOLE + 'cu_kind = "tre"\n': "no kind of CU",
    WHOLE + 'cu_kind = "fused"\nfused_window = 33\n': "too wide a window",
    WHOLE + 'architecture = "other"\n': "no architecture",
    WHOLE.replace("design.a", 'design."a/"').replace('"a"', '"a/"'): "no name of a design",
    'base = "digit"\n': "no base",
    'base = "alexnet24"\n': "a base that has one",
    OVER + "[layer.conv2]\nkernel = 0\n": "no kernel, over a base",
    OVER + "[layer.norm2]\n": "no layer, over a base",
    OVER + "[[layer]]\nname = 'conv1'\n": "a list of layers over a base",
    OVER + "[design.k3]\nncu = 3\n": "an unknown key, over a base",
}


@pytest.mark.parametrize("text", BAD, ids=BAD.get)
def test_bad_files_do_not(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(BadInput):
        open_network(str(path))
    assert not VALIDATOR.is_valid(tomllib.loads(text))


UNKNOWN = {
    "network": HEAD + "x = 1\n" + CONV,
    "network: storage": HEAD + "storage = { x = 1 }\n" + CONV,
    "network: input": HEAD.replace("rows", "x = 1, rows") + CONV,
    "layer conv1": HEAD + CONV + POOL + "x = 1\n",
    "layer fc1": HEAD + '[[layer]]\nname = "fc1"\nmaps = 2\nx = 1\n',
    "layer conv1: pool": HEAD + CONV + POOL.replace("kind", "x = 1, kind"),
    "design a": WHOLE + "x = 1\n",
}
"""By the table that has a key too many."""


def tables(schema: Any) -> Iterator[frozenset[str]]:
    """Keys of each table of a schema that takes no others."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False and "properties" in schema:
            yield frozenset(schema["properties"])
        for each in schema.values():
            yield from tables(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from tables(each)


@pytest.mark.parametrize("table", UNKNOWN)
def test_each_table_has_the_keys_that_its_reader_asks_for(table: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(UNKNOWN[table])
    with pytest.raises(BadInput) as told:
        read_network(path)
    said = re.fullmatch(rf"mine.toml: {table}: unknown key 'x': allowed are (.*)", str(told.value))
    assert said is not None
    assert frozenset(said[1].split(", ")) in set(tables(SCHEMA))


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Everything in a schema that a key may be."""
    if isinstance(schema, dict):
        for key, each in schema.items():
            if key == "properties":
                yield from each.values()
            yield from nodes(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from nodes(each)


def test_every_key_is_explained() -> None:
    plain = [node for node in nodes(SCHEMA) if "enum" in node or node.get("type") == "integer"]
    assert len(plain) > 50
    assert all(node["description"] for node in plain)


def test_the_verb_prints_it(capsys: pytest.CaptureFixture[str], terminal: Terminal) -> None:
    from merp.tools.cli import main

    assert json.loads(terminal.output("schema")) == SCHEMA
    with pytest.raises(SystemExit):
        main(["schema", "board"])
    assert "invalid choice: 'board' (choose from" in capsys.readouterr().err
