"""The reader of the papers' lists: what it refuses, and the tolerance of each class."""

import pytest

from merp.models.papers.lists import MOST, NAMES, PaperNumber, paper, read

HEAD = 'source = "a"\nphrase = "b"\n'


def one(entry: str, group: str = "") -> PaperNumber:
    text = f'{HEAD}[[group]]\nplace = "I"\n{group}\nnumbers = [{{ {entry} }}]\n'
    (found,) = read(text, "x.toml").numbers
    return found


ENTRY = 'what = "w", unit = "s", printed = "1.50", row = "r"'


def test_a_group_says_what_holds_for_its_numbers() -> None:
    found = one('what = "w", printed = "4", row = "r"', 'unit = "s"\nclass = "D"\nwithin = 0.02')
    assert (found.place, found.unit, found.cls, found.within) == ("I", "s", "D", 0.02)
    own = one(f'{ENTRY}, class = "P", why = "read"', 'class = "E"')
    assert (own.cls, own.within) == ("P", 0.1)


def test_tolerances_follow_from_the_class() -> None:
    exact = one(f'{ENTRY}, class = "E"')
    assert exact.within == pytest.approx(0.005 / 1.5, rel=1e-6)
    assert one(f'{ENTRY}, class = "E", operands = 0.1').within == pytest.approx(0.1 + 0.005 / 1.5)
    assert one(f'{ENTRY}, class = "E", bound = "most"').within == 0
    assert one(f'{ENTRY}, class = "N", why = "no"').within == 0.01


def test_without_a_row_there_is_a_reason() -> None:
    found = one('what = "w", unit = "s", printed = "1", why = "no GPU"')
    assert (found.cls, found.row) == ("U", None)
    with pytest.raises(ValueError, match=r"^x\.toml: I: w: class U needs a why$"):
        one('what = "w", unit = "s", printed = "1"')


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (f'{ENTRY}, class = "Q"', "class 'Q' of a number with a row"),
        (f'{ENTRY}, class = "U"', "class 'U' of a number with a row"),
        (f'{ENTRY}, class = "N"', "class N needs a why"),
        (f'{ENTRY}, class = "D", within = 0.11', f"within 0.11: at most {MOST}"),
        (f'{ENTRY}, class = "D"', "'within'"),
        (f'{ENTRY}, class = "E", bound = "about"', "bound 'about': must be one of most, least"),
        (f'{ENTRY}, class = "E", kind = "a"', "unknown kind"),
        ('what = "w", printed = "1", row = "r", class = "E"', "'unit'"),
    ],
)
def test_what_is_wrong_is_named(entry: str, line: str) -> None:
    with pytest.raises(ValueError, match=f"^x.toml: I: w: {line}"):
        one(entry)


def test_an_unknown_key_of_a_group_is_named() -> None:
    with pytest.raises(ValueError, match=r"^x\.toml: I: unknown klass$"):
        one(ENTRY, 'klass = "E"')


@pytest.mark.parametrize("name", NAMES)
def test_a_list_is_looked_up_by_place_and_name(name: str) -> None:
    found = paper(name)
    assert found.source
    first = found.numbers[0]
    assert found[first.place, first.what] == float(first.printed)
    with pytest.raises(KeyError):
        found["nowhere", "nothing"]


def test_a_name_of_two_numbers_is_not_looked_up() -> None:
    text = f"""{HEAD}[[group]]
place = "I"
unit = "s"
why = "no"
numbers = [{{ what = "w", printed = "1" }}, {{ what = "w", printed = "2" }}]
"""
    with pytest.raises(KeyError):
        read(text, "x.toml")["I", "w"]
