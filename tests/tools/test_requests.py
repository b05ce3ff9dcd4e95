"""A request is declared once: options, keywords, checks and tables all come from its fields."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import KW_ONLY, FrozenInstanceError, dataclass, fields
from pathlib import Path
from typing import Any

import pytest

import merp
from checkout import ROOT
from merp.models.base.errors import BadInput
from merp.models.base.given import as_arguments, name_of
from merp.tools.common.arguments import Parser, add_request, request_of
from merp.tools.common.command_line.parser import command_line, module_of, subparsers_of
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.kinds import Flag, OneOf, Repeated, Text, WholeOption
from merp.tools.common.request import Being, again, asks, check_together, declared, keyword, option
from options import filled, keyword_table

REQUESTS = {verb: module_of(verb).REQUEST for verb in VERBS}
METHODS = {
    **{name: getattr(merp.Network, name) for name in ("traffic", "plan", "layout", "simulate")},
    **{name: getattr(merp.Network, name) for name in ("train", "export", "system")},
    "run": merp.Layer.run,
}


@dataclass(frozen=True, kw_only=True)
class Both:
    """Fields that the verb and the Python method share."""

    count: int = option(WholeOption(1, 9), "how many", default=3, says="so many.")
    way: str | None = option(OneOf(("up", "down")), "where to")
    far: bool = option(Flag(), "how far", needs=(Being("way", ("up",)),))
    near: str | None = option(Text(), "how near", without=(Being("far"),))


@dataclass(frozen=True, kw_only=True)
class Options(Both):
    """The options of the verb."""

    place: str = option(Text(), "where", "PLACE", required=True, after="words")
    many: tuple[str, ...] = option(Repeated(Text()), "again", default=(), after="count")


@dataclass(frozen=True)
class Keywords(Both):
    """The keywords of the Python method."""

    _: KW_ONLY
    count: int = again(Both, "count", default=5)
    told: object = keyword(Text(), "text.")


class Thing:
    """Has a method."""

    @asks(Keywords)
    def ask(self, asked: Keywords) -> Keywords:
        """Ask.

        Raises:
            BadInput: it is wrong.
        """
        return asked


def parsed(*words: str) -> Any:
    parser = Parser(prog="merp")
    add_request(parser, Options)
    return request_of(parser.parse_args(words))


def test_options_are_in_the_order_of_the_page_and_make_the_request() -> None:
    assert [name for name, _ in declared(Options)] == [
        "place", "count", "many", "way", "far", "near",
    ]  # fmt: skip
    assert parsed("here", "--count", "4", "--many", "a", "--many", "b") == Options(
        place="here", count=4, many=("a", "b")
    )
    assert parsed("here") == Options(place="here")


def test_keywords_are_those_of_the_dataclass() -> None:
    found = inspect.signature(Thing.ask)
    assert str(found).startswith("(self, *, count: 'int' = 5, way: ")
    assert "    count: so many.\n" in (Thing.ask.__doc__ or "")
    assert Thing().ask(count=2, way="down") == Keywords(count=2, way="down")
    with pytest.raises(TypeError, match=r"^Thing\.ask\(\) got an unexpected keyword argument 'cou"):
        Thing().ask(coun=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"count": 10}, "count = 10: must be a whole number from 1 to 9"),
        ({"count": None}, "count = None: must be a whole number from 1 to 9"),
        ({"way": "left"}, "way = 'left': allowed are up, down"),
        ({"far": 1}, "far = 1: allowed are True, False"),
        ({"far": True}, "far: allowed with way up"),
        ({"far": True, "way": "down"}, "far: allowed with way up"),
        ({"far": True, "way": "up", "near": "x"}, "near = 'x': allowed without far"),
    ],
)
def test_a_keyword_that_is_wrong_is_named_with_its_value(values: Any, said: str) -> None:
    with pytest.raises(BadInput) as told:
        Thing().ask(**values)
    assert str(told.value) == said


def test_options_that_do_not_go_together_are_named_as_they_were_typed() -> None:
    with pytest.raises(BadInput, match=r"^--far: allowed with --way up$"):
        parsed("here", "--far")
    with pytest.raises(BadInput, match=r"^--near x: allowed without --far$"):
        parsed("here", "--far", "--way", "up", "--near", "x")


def test_a_default_that_is_given_goes_with_everything() -> None:
    with as_arguments():
        check_together(Keywords(near=None, far=False))


@pytest.mark.parametrize("verb", VERBS)
def test_a_request_is_frozen_and_its_options_are_all_there_are(verb: str) -> None:
    request = REQUESTS[verb]
    actions = subparsers_of(command_line({verb}))[verb]._actions
    named = {each.dest for each in actions if not each.dest.startswith("own_")}
    declared_names = {name for name, of in declared(request) if of.help and name != "own"}
    assert named - {"help", "debug"} == declared_names
    with pytest.raises(FrozenInstanceError):
        request.__setattr__(object.__new__(request), fields(request)[0].name, 1)


@pytest.mark.parametrize("verb", VERBS)
def test_messages_call_an_option_as_it_is_called(verb: str) -> None:
    for name, of in declared(REQUESTS[verb]):
        names = of.options or (f"--{name.replace('_', '-')}",)
        if names[0].startswith("-"):
            assert name_of(name) in names


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_what_it_takes(name: str) -> None:
    method = METHODS[name]
    shown = list(inspect.signature(method).parameters)[1:]
    assert sorted(shown) == sorted(each for each, _ in declared(method.request))
    text = method.__doc__ or ""
    assert all(f"\n    {each}: " in text for each in shown)
    assert text.index("Args:") < text.index("Raises:")


def test_the_documentation_has_every_option_and_keyword() -> None:
    page = (ROOT / "docs" / "options.md").read_text()
    for verb in VERBS:
        mark = f"<!-- options: {verb} -->"
        assert mark in page
        table = filled(mark)
        for name, of in declared(REQUESTS[verb]):
            if name != "own":
                assert f"`{(of.options or ('--' + name.replace('_', '-'),))[0]}`" in table
    guide = (ROOT / "docs" / "library.md").read_text()
    for name in METHODS.keys() - {"run"}:
        assert f"<!-- keywords: {name} -->" in guide
        assert keyword_table(name).count("\n| `") == len(list(declared(METHODS[name].request)))


USE = """
import merp

net = merp.load("digits")
reveal_type(net.train)
net.simulate(layr="conv1")
net.plan()
net.train(batch="many")
net.export("out", phase="fp", images=2)
"""


@pytest.mark.full
def test_a_type_checker_knows_every_keyword(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", str(tmp_path / "use.py")],
        capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(ROOT / ".typing")},
    )  # fmt: skip
    said = done.stdout
    assert "learning_rate: builtins.float =" in said or "learning_rate: float =" in said
    assert 'Unexpected keyword argument "layr" for "simulate"' in said
    assert 'argument "board" in call to "plan"' in said
    assert 'Argument "batch" to "train" of "Network" has incompatible type "str"' in said
    assert "Found 3 errors" in said
