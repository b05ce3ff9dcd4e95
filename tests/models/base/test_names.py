"""What a name may be, and what is made of it."""

import re
import string
import warnings

import pytest

from merp.models.base.names import file_name, folder_name, identifier, is_name, plot_label
from merp.tools.train.loss_chart import draw


@pytest.mark.parametrize("name", ["a", "7", "VGG-16", "conv1 +.-_ X", "a" * 64, "v1.0", "a..b"])
def test_a_name(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "a ", " a", ".", "..", ".a", "a.", "-o", "_a", "+1", "=1", "a/b", "/x/y", "a\\b",
        "../a", "a\nb", "a\n", "a\tb", "a\0", "a\x1b[2J", "conv1 */ int x;", "$x$", 'a"b', "a'b",
        "a`b", "a{b", "a[b", "a<b", "a&b", "a|b", "a,b", "a;b", "a:b", "a#b", "a%b", "a*b", "a?b",
        "a~b", "a!b", "a@b", "a(b", "a=b", "a^b", "é", "\N{ARABIC-INDIC DIGIT ONE}", "K\u0301",
        "\N{KELVIN SIGN}", "\ud800", "a" * 65, "a" * 250,
    ],
)  # fmt: skip
def test_no_name(name: str) -> None:
    assert not is_name(name)


def test_no_character_but_those_that_are_named() -> None:
    inside = {chr(code) for code in range(0x11000) if is_name(f"a{chr(code)}a")}
    assert inside == {*string.ascii_letters, *string.digits, *" ._+-"}


def test_what_is_made_of_names() -> None:
    assert file_name("Net 1.0", "conv1", "fp", suffix=".csv") == "Net 1.0-conv1-fp.csv"
    assert folder_name("Net +1.0", "k_5", "fp") == "net-1-0-k-5-fp"
    assert identifier("merp", "Net +1.0", "k__5", "fp") == "merp_net_1_0_k_5_fp"
    assert re.fullmatch("[a-z]([a-z0-9]|_(?!_))*[a-z0-9]", identifier("merp", "8.-+_ 8", "b"))
    assert len(file_name("a" * 64, "b" * 64, "g65535", suffix=".png")) < 255


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "text", ["$", "$x", "$x_$y", r"\$", "_hidden", "\u4e2d", "a^{", "é", "a\nb\x1b"]
)
def test_any_text_is_drawn_as_it_is(text: str) -> None:
    """The label of a run is the name of its folder."""
    run = {"loss": [1.0, 0.5], "batch": 1, "images": {"trained": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = draw({text: run}, text, ".svg")
    shown = plot_label(text).strip().replace(r"\$", "$")
    assert picture.decode().count(f"{shown}</text>") == 2
