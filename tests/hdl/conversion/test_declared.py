"""Damage to the names in converted files is found, and keeps the files from their places."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal, always, always_comb, enum

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion import _verilog, _vhdl
from merp.hdl.conversion._declared import check_names
from merp.hdl.conversion.convert import ExportError, convert
from merp.hdl.conversion.entity import entity
from traps import DESIGNS

WRITERS = {"vhdl": _vhdl, "verilog": _verilog}


@entity
def shelf(clk: Any, x: Any, y: Any, z: Any, places: int) -> Any:
    """Keep words, the next one at the last place that is empty."""
    words = [bits(len(x)) for _ in range(places)]

    @always(clk.posedge)
    def keep() -> None:
        place = 0
        for i in range(places):
            if words[i] == 0:
                place = i
        words[place].next = x
        y.next = words[0]

    @always_comb
    def invert() -> None:
        z.next = ~x[0]

    return keep, invert


@entity
def shop(clk: Any, x: Any, y: Any, z: Any) -> Any:
    """Two shelves, one after the other in use."""
    t_state = enum("LEFT", "RIGHT")
    state = Signal(t_state.LEFT)
    narrow, wide, empty = bits(4), bits(8), bits(8)
    first, second = flag(), flag()
    left = shelf(clk, x(4, 0), narrow, first, 2)
    right = shelf(clk, x, wide, second, 3)

    @always(clk.posedge)
    def turn() -> None:
        total = narrow + wide
        if state == t_state.LEFT:
            y.next = narrow
            state.next = t_state.RIGHT
        else:
            y.next = total % 256 ^ empty
            state.next = t_state.LEFT

    @always_comb
    def join() -> None:
        z.next = first and second

    return left, right, turn, join


def args() -> dict[str, Any]:
    return {"clk": flag(), "x": bits(8), "y": bits(8), "z": flag()}


def texts_of(hdl: Any, folder: Path, fold: bool = True) -> dict[str, str]:
    """The texts of the shop, in the order of compilation."""
    files = convert(shop, args(), hdl, folder, fold=fold, check=True).files
    return {file.name: file.read_text() for file in files}


def damaged(texts: dict[str, str], file: str, old: str, new: str) -> dict[str, str]:
    """The texts, with the first match of a pattern in a file replaced."""
    [name] = [name for name in texts if name.startswith(file)]
    changed, count = re.subn(old, new, texts[name], count=1, flags=re.MULTILINE)
    assert count == 1, texts[name]
    assert changed != texts[name]
    return texts | {name: changed}


def line_of(texts: dict[str, str], damage: dict[str, str]) -> int:
    """The first line that differs."""
    [name] = [name for name in texts if texts[name] != damage[name]]
    pairs = zip(texts[name].splitlines(), damage[name].splitlines(), strict=False)
    return 1 + next(at for at, (old, new) in enumerate(pairs) if old != new)


VHDL = {
    "a signal that is renamed": ("shop.", r"^(    signal )wide ", r"\1wode ", "wide is not decl"),
    "a signal where it is read": ("shop.", "state = LEFT", "stage = LEFT", "stage is not declared"),
    "a missing declaration": ("shop.", r"^    signal state .*\n", "", "state is not declared"),
    "a missing type": ("shop.", r"^    type t_state .*\n", "", "t_state is not declared"),
    "a missing variable": ("shop.", r"^ *variable total .*\n", "", "total is not declared"),
    "a literal of no type": ("shop.", "<= RIGHT", "<= WRONG", "WRONG is not declared"),
    "a name declared twice": ("shop.", r"^(    signal empty .*\n)", r"\1\1", "empty is declared"),
    "a port declared twice": ("shop.", r"^( *x +: in .*\n)", r"\1\1", "x is declared twice"),
    "a label declared twice": ("shop.", "left_inst :", "right_inst :", "right_inst is declared"),
    "a signal like a port": ("shop.", "signal empty ", "signal y     ", "y is declared twice"),
    "a formal that is none": ("shop.", r"\bx =>", "xx =>", "has no port xx"),
    "a generic that is none": ("shop.", "places =>", "rooms =>", "has no generic rooms"),
    "a missing connection": ("shop.", r"\bx => [^,]*, ", "", "port x of shelf is not connected"),
    "a missing generic": ("shop.", r"places => \d+(, )?", "", "generic places of shelf has no"),
    "a connection made twice": ("shop.", "(clk => clk, )", r"\1\1", "clk is connected twice"),
    "a missing comma": ("shop.", r"3 downto 0\), y =>", "3 downto 0) y =>", "not understood: y"),
    "an open input": ("shop.", r"(\bx => )x_num\(.*?\)", r"\1open", "x of shelf is not conn"),
    "a missing entity": ("shop.", r"work\.shelf", "work.shelves", "shelves is not declared"),
    "an input that is assigned": ("shelf.", r"\by <= ", "x <= ", "x is assigned, but is an input"),
    "an input at an output": ("shelf.", "y( +: )out", r"y\1in ", "y is assigned, but is an inp"),
    "an output into an input": ("shop.", "(y => )narrow", r"\1x", "x is assigned, but is an inp"),
    "a constant as a target": (
        "shop.", r"signal( narrow .*) := ", r"constant\1 := ", "narrow is assigned, but is no sig"
    ),
    "a loop variable outside": ("shelf.", r"\by <= ", "y <= i; y <= ", "i is not declared"),
    "a type that is none": ("shop.", "(signal narrow +: )unsigned", r"\1x_num", "x_num is no type"),
    "an unknown attribute": ("shop.", r"(resize\(narrow)", r"\1'size", "attribute size is"),
    "an unknown package": ("shop.", r"ieee\.numeric_std", "ieee.numeric_bit", "not known"),
    "a package that is not used": (
        "shop.", r"^use ieee\.numeric_std.*\n", "", "unsigned is not declared"
    ),
    "a missing library": ("shop.", r"^library ieee;\n", "", "ieee.std_logic_1164.all is not known"),
    "a label as a value": ("shop.", "<= first", "<= turn", "turn is not declared"),
    "an end of another": ("shop.", "end architecture rtl", "end architecture x", "not understood"),
    "a process that ends as another": ("shop.", "end process turn", "end process t", "not under"),
    "an if that does not end": ("shop.", r"^ +end if;\n", "", "not understood: end process"),
    "an else too many": ("shop.", r"^( +else\n)", r"\1\1", "not understood: else"),
    "a keyword as a name": ("shop.", "signal empty ", "signal label ", "label is no identifier"),
}  # fmt: skip
VERILOG = {
    "a signal that is renamed": ("shop.", r"\bwide;", "wode;", "wide is not declared"),
    "a signal where it is read": ("shop.", "state == ", "stage == ", "stage is not declared"),
    "a missing declaration": ("shop.", r"^ +reg +state.*;\n", "", "state is not declared"),
    "a missing variable": ("shop.", r"^ +reg [^;]*\btotal;\n", "", "total is not declared"),
    "a missing loop variable": ("shelf.", r"^ +integer i;\n", "", "i is not declared"),
    "a literal of no type": ("shop.", "<= RIGHT", "<= WRONG", "WRONG is not declared"),
    "a name declared twice": ("shop.", r"^( +wire .*empty;\n)", r"\1\1", "empty is declared twice"),
    "a port declared twice": ("shop.", r"^( *input .* x,\n)", r"\1\1", "x is declared twice"),
    "a label declared twice": ("shop.", "left_inst", "right_inst", "right_inst is declared twice"),
    "a formal that is none": ("shop.", r"\.x ", ".xx ", "has no port xx"),
    "a missing connection": ("shop.", r"^ +\.x .*\n", "", "is not connected"),
    "an empty connection": ("shop.", r"(\.x +)\([^()]*\)", r"\1()", "is not connected"),
    "a connection made twice": ("shop.", r"^( +\.x .*\n)", r"\1\1", "x is connected twice"),
    "a missing module": ("shop.", r"shelf #", "shelves #", "shelves is not declared"),
    "a parameter that is none": ("shop.", r"\.places", ".rooms", "has no parameter rooms"),
    "a parameter declared twice": (
        "shelf.", r"^( *parameter .* places = .*\n)", r"\1\1", "places is declared twice"
    ),
    "a parameter of no name": ("shelf.", r"places - 1", "spaces - 1", "spaces is not declared"),
    "a signal of another form": ("shelf.", r"clk,", "clack,", "clk is not declared"),
    "an input that is assigned": ("shelf.", r"\by <= ", "x <= ", "x is assigned, but is"),
    "an output into an input": ("shop.", r"(\.y +)\(narrow", r"\1(x", "x is assigned, but is an"),
    "a wire in a process": (
        "shop.", r"output reg ( *\[7:0\] y)", r"output wire\1", "y is assigned, but is no register"
    ),
    "a register that is wired": (
        "shop.", r"wire( \[3:0\] narrow)", r"reg \1", "narrow is assigned, but is no wire"
    ),
    "a function of no system": ("shop.", r"state <= ", "state <= $sign", r"\$sign\w* is not known"),
    "a macro": ("shop.", "state <= ", "state <= `ZERO + ", "not understood"),
    "a label as a value": ("shop.", "= first", "= turn", "turn is not declared"),
    "a block that does not end": ("shop.", r"^ +end\n", "", "not understood"),
    "a keyword as a name": ("shop.", r"\bempty;", "table;", "table is no identifier"),
}  # fmt: skip


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, str]]:
    found = {hdl: texts_of(hdl, tmp_path_factory.mktemp(hdl)) for hdl in WRITERS}
    return found.__getitem__


@pytest.mark.parametrize(
    ("hdl", "damage"), [("vhdl", name) for name in VHDL] + [("verilog", name) for name in VERILOG]
)
def test_damage_is_found(hdl: str, damage: str, texts: Callable[[str], dict[str, str]]) -> None:
    file, old, new, said = (VHDL if hdl == "vhdl" else VERILOG)[damage]
    spoilt = damaged(texts(hdl), file, old, new)
    check_names(texts(hdl))
    with pytest.raises(ExportError, match=rf"^{file}.*, line \d+: .*{said}") as raised:
        check_names(spoilt)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("hdl", "old", "new"),
    [("vhdl", "state = LEFT", "stage = LEFT"), ("verilog", "state == ", "stage == ")],
)
def test_the_message_says_the_line(
    hdl: str, old: str, new: str, texts: Callable[[str], dict[str, str]]
) -> None:
    spoilt = damaged(texts(hdl), "shop.", old, new)
    line = line_of(texts(hdl), spoilt)
    with pytest.raises(ExportError, match=rf"^shop\.\w+, line {line}: stage is not declared$"):
        check_names(spoilt)


@pytest.mark.parametrize("hdl", WRITERS)
def test_every_name_counts(hdl: str, texts: Callable[[str], dict[str, str]]) -> None:
    """A name is renamed at one place after the other."""
    whole = texts(hdl)
    [name] = [name for name in whole if name.startswith("shop.")]
    text = whole[name]
    start = text.index("signal " if hdl == "vhdl" else "reg ")
    names = re.compile(r"\b(narrow|wide|empty|state|total|first|second|clk|x|y|z)\b(?!\")")
    places = [match.start() for match in names.finditer(text, start)]
    assert len(places) > 30
    missed = []
    for place in places:
        try:
            check_names(whole | {name: f"{text[:place]}q{text[place:]}"})
            missed.append(text[place:].partition("\n")[0])
        except ExportError:
            pass
    assert missed == []


@pytest.mark.parametrize("hdl", WRITERS)
def test_an_entity_comes_before_its_use(hdl: str, texts: Callable[[str], dict[str, str]]) -> None:
    turned = dict(reversed(texts(hdl).items()))
    if hdl == "verilog":  # the order is free
        check_names(turned)
        return
    with pytest.raises(ExportError, match=r"^shop\.vhd, line \d+: shelf is not declared$"):
        check_names(turned)


@pytest.mark.parametrize("hdl", WRITERS)
def test_a_unit_is_declared_once(hdl: str, texts: Callable[[str], dict[str, str]]) -> None:
    [name] = [name for name in texts(hdl) if name.startswith("shop.")]
    with pytest.raises(ExportError, match="shop is declared twice"):
        check_names(texts(hdl) | {f"again_{name}": texts(hdl)[name]})


@pytest.mark.parametrize("hdl", WRITERS)
def test_a_file_has_the_unit_of_its_name(hdl: str, texts: Callable[[str], dict[str, str]]) -> None:
    [name] = [name for name in texts(hdl) if name.startswith("shop.")]
    other = re.sub(r"\bshop\b", "shack", texts(hdl)[name])
    with pytest.raises(ExportError, match=r"^shop\.\w+, line 1: shop is not declared$"):
        check_names(texts(hdl) | {name: other})


@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("hdl", WRITERS)
def test_what_is_damaged_leaves_nothing(
    hdl: Any, fold: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    texts_of(hdl, tmp_path / "there", fold)
    before = {path.name: path.read_bytes() for path in (tmp_path / "there").iterdir()}
    written = WRITERS[hdl].write

    def spoilt(*given: Any) -> str:
        return re.sub(r"\bnarrow\b", "narrower", written(*given), count=1)

    monkeypatch.setattr(WRITERS[hdl], "write", spoilt)
    for folder in ("there", "new"):
        with pytest.raises(ExportError, match=r"^shop\.\w+, line \d+: narrow is not declared$"):
            convert(shop, args(), hdl, tmp_path / folder, fold=fold)
    assert {path.name: path.read_bytes() for path in (tmp_path / "there").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("hdl", WRITERS)
@pytest.mark.parametrize("name", DESIGNS)
def test_designs_that_are_traps_pass(name: str, hdl: Any, tmp_path: Path) -> None:
    function, make, _ = DESIGNS[name]
    assert convert(function, make(), hdl, tmp_path, check=True).files
