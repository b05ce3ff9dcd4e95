"""Ports that come in one argument: their names, their order, and what a file says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from myhdl import always_comb

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import AxiStream, bits, flag
from merp.hdl.conversion.convert import ExportError, convert
from merp.hdl.conversion.entity import Bit, entity


class Choice(DesignPorts[bool]):
    """Two streams; a second sink in some designs."""

    MEMBERS = (
        Member("s_axis_map", lambda wide: AxiStream(8, 2)),
        Member("m_axis_map", lambda wide: AxiStream(8, 2)),
        Member("enable", lambda wide: flag()),
        Member("s_axis_more", lambda wide: AxiStream(8, 4), lambda wide: wide),
    )


@entity
def passing(clk: Bit, ports: Choice, depth: int) -> Any:
    """Hand a stream on.

    s_axis_map   in   what comes
    m_axis_map   out  what leaves
    s_axis_more  in   what comes, too,
                      where it does
    depth        in   a number

    Sinks, in the order of names, are in no table.
    """
    sink, source = ports.s_axis_map, ports.m_axis_map
    enable = ports.enable
    more = ports.s_axis_more if ports.has("s_axis_more") else ports.s_axis_map

    @always_comb
    def connect() -> None:
        source.tdata.next = sink.tdata
        source.tkeep.next = sink.tkeep
        source.tlast.next = sink.tlast
        source.tvalid.next = sink.tvalid and enable and more.tvalid
        sink.tready.next = source.tready

    return connect


def exported(folder: Path, wide: bool) -> tuple[list[str], str]:
    """Names of the ports, and the text of the file."""
    args = {"clk": flag(), "ports": Choice(wide), "depth": 3}
    export = convert(passing, args, "vhdl", folder)
    return [port.name for port in export.ports], export.files[-1].read_text()


@pytest.mark.parametrize("wide", [False, True])
def test_fields_are_ports_under_their_own_names_in_their_order(tmp_path: Path, wide: bool) -> None:
    names, _ = exported(tmp_path, wide)
    fields = ("tdata", "tvalid", "tready", "tlast", "tkeep")
    streams = [f"{name}_{field}" for name in ("s_axis_map", "m_axis_map") for field in fields]
    more = [f"s_axis_more_{field}" for field in fields] if wide else []
    assert names == ["clk", *streams, "enable", *more]


def test_a_file_says_nothing_of_a_port_that_is_not_there(tmp_path: Path) -> None:
    _, without = exported(tmp_path / "without", wide=False)
    _, with_it = exported(tmp_path / "with", wide=True)
    for text in ("-- s_axis_more  in", "where it does"):
        assert (text in without, text in with_it) == (False, True)
    for text in ("-- m_axis_map   out  what leaves", "-- depth        in   a number", "Sinks, in"):
        assert text in without
        assert text in with_it


def test_parameters_of_what_may_be_missing_come_last(tmp_path: Path) -> None:
    _, text = exported(tmp_path, wide=True)
    said = [line for line in text.splitlines() if " = " in line and line.startswith("-- ")]
    assert said == [
        "-- s_axis_map_lanes = 2",
        "-- m_axis_map_lanes = 2",
        "-- depth = 3",
        "-- s_axis_more_lanes = 4",
    ]


def test_two_ports_of_one_name_are_refused(tmp_path: Path) -> None:
    ports = Choice(False).but(m_axis=type("Map", (), {})())
    ports.m_axis.map_tdata = bits(8)

    class Twice(Choice):
        MEMBERS = (*Choice.MEMBERS, Member("m_axis", lambda wide: ports.m_axis))

    @entity
    def twice(clk: Bit, ports: Twice) -> Any:
        return passing(clk, ports=ports, depth=1)

    with pytest.raises(ExportError, match="two arguments flatten to the name m_axis_map_tdata"):
        convert(twice, {"clk": flag(), "ports": Twice(False)}, "vhdl", tmp_path)
