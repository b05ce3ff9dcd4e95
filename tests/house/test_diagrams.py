"""Wires of a drawing are those of the VHDL, and none crosses a box."""

import re

import pytest

from netlist import Wire, wires
from wiring import Place, Wiring

PLAIN = """
entity {name} is
    port (
        clk : in std_logic;
        a : in unsigned(7 downto 0);
        y : out unsigned(7 downto 0)
    );

end entity {name};
"""
TOP = PLAIN.format(name="top").replace(" a ", " s_axis_a_tdata ").replace(" y ", " m_axis_y_tdata ")
TEXTS = {
    "one": PLAIN.format(name="one"),
    "two": PLAIN.format(name="two"),
    "room": PLAIN.format(name="room")
    + """
    first : entity work.one
        port map (
            clk => clk,
            a   => a,
            y   => between
        );

    second : entity work.two
        port map (
            clk => clk,
            a   => between,
            y   => y
        );
""",
    "top": TOP
    + """
    inner : entity work.room
        port map (
            clk => clk,
            a   => unsigned(s_axis_a_tdata),
            std_logic_vector(y) => m_axis_y_tdata
        );
""",
}


def found(texts: dict[str, str]) -> list[Wire]:
    return wires(texts, "top", lambda entity: entity == "room", re.compile("clk"))


def test_wires_are_followed_through_containers() -> None:
    assert sorted(found(TEXTS), key=lambda wire: wire.source) == [
        Wire("one", "two", ("y",), 8),
        Wire("s_axis_a", "one", ("s_axis_a_tdata",), 8),
        Wire("two", "m_axis_y", ("m_axis_y_tdata",), 8),
    ]


def test_a_wire_that_is_cut_is_gone() -> None:
    cut = TEXTS | {"room": TEXTS["room"].replace("a   => between", "a   => nothing")}
    assert [wire for wire in found(cut) if wire.source == "one"] == []


def ends(wiring: Wiring) -> list[str]:
    return re.findall(r'd="M([^"]*)"', "".join(wiring.svg("tip")))


def test_boxes_side_by_side_have_straight_wires_apart() -> None:
    places = {"one": Place(0, 0), "two": Place(1, 0)}
    there, back = Wire("one", "two", ("a",), 1), Wire("two", "one", ("b",), 1)
    paths = ends(Wiring(places, [there, back]))
    heights = [re.findall(r"[\d.]+ ([\d.]+)", path) for path in paths]
    assert [len(set(each)) for each in heights] == [1, 1]
    assert heights[0] != heights[1]


def test_a_wire_goes_below_what_is_in_its_way() -> None:
    places = {"one": Place(0, 0), "wall": Place(1, 0), "two": Place(2, 0)}
    (path,) = ends(Wiring(places, [Wire("two", "one", ("back",), 1)]))
    assert path.count("L") == 3


def test_a_wire_that_can_only_cross_a_box_is_told() -> None:
    places = {"one": Place(0, 0), "wall": Place(0, 1), "two": Place(0, 2)}
    with pytest.raises(ValueError, match="wire one to two crosses wall"):
        Wiring(places, [Wire("one", "two", ("a",), 1)])
