"""TOML files beyond what a parser should be given."""

import tomllib
from pathlib import Path

import pytest

from merp.models.base.errors import LINE, BadInput, one_line
from merp.models.base.toml_section import BYTES, Section, read_toml
from merp.models.network.network_file import read_network

BEYOND = {
    "x = 1 # " + BYTES * "a": "too large: allowed are at most 262,144 bytes",
    "a = 1\nb = " + 5000 * "9": "line 2: 5,004 characters: allowed are at most 4,096",
    "a = " + ".".join(3000 * ["a"]): "line 1: 6,003 characters",
    ".".join(1000 * ["a"]) + " = 1": "nested too deep: allowed are at most 8 tables and lists",
    "a = " + 5000 * "[\n" + 5000 * "]\n": "nested too deep: allowed are at most 8",
    "a = " + 9 * "[" + 9 * "]": "nested too deep: allowed are at most 8",
    "a = 0x" + 4000 * "F": "a = (int that is too long to show): allowed are at most 9223372036854",
    "[b]\na = [[1, -1" + 30 * "0" + "]]": "a = -1000000000000000000000000000000: allowed are at",
    "a = " + 60 * "1_" + "1": "a = 1111111",
}


@pytest.mark.parametrize("text", BEYOND, ids=[value[:30] for value in BEYOND.values()])
def test_a_file_beyond_a_limit(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        read_toml(path)
    assert str(error.value).startswith(f"{path}: {BEYOND[text]}")
    assert len(str(error.value)) < 500


def test_a_file_at_the_limits(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    text = "a = " + 7 * "[" + "9223372036854775807" + 7 * "]" + "\n#"
    path.write_text(text + (4095 * "b" + "\n#") * ((BYTES - len(text)) // 4097))
    assert list(read_toml(path)) == ["a"]


def test_an_endless_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="/dev/zero: too large: allowed are at most"):
        read_toml(Path("/dev/zero"))


@pytest.mark.parametrize(
    "value", ['"""' + 100 * (1000 * "x" + "\n") + '"""', "[" + 900 * "1, " + "]", '"\\n"']
)
def test_a_value_is_repeated_in_few_characters(value: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f"[network]\nname = {value}\n")
    with pytest.raises(BadInput) as error:
        read_network(path)
    assert len(str(error.value)) < 300
    assert str(error.value).isprintable()


def test_a_long_complaint_keeps_its_ends() -> None:
    said = one_line("begin" + 9999 * "\n" + "end")
    assert len(said) <= LINE
    assert said.startswith("begin\\n")
    assert said.endswith("\\nend")
    assert said.isprintable()


@pytest.mark.parametrize("value", ["{}", "[]", "{ a = [1] }", "1.5", "true"])
def test_a_choice_is_a_text(value: str, tmp_path: Path) -> None:
    """A table or a list cannot be looked up in a table of choices."""
    section = Section(Path("net.toml"), "layer 1", {"kind": tomllib.loads(f"x = {value}")["x"]})
    with pytest.raises(BadInput, match=r"kind = .*: must be one of conv, fc"):
        section.choice("kind", {"conv": 1, "fc": 2})
