"""A board of a chain in a separate simulation: the lanes of its links are wires of the top.

Only words on the lanes and credits cross from one board to the other. Both take the latency of a
link. Therefore boards that are connected by wires of this latency behave exactly as the chain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from merp.hdl.base.interface import GivenPorts, Interface, given_all
from merp.hdl.base.signals import Bundles, flag
from merp.hdl.cnn_merp.chain.link import link_far, link_near
from merp.hdl.cnn_merp.chain.node import node
from merp.hdl.cnn_merp.chain.ports import (
    ClusterStatus,
    Lanes,
    NodeStatus,
    axis,
    backward_streams,
    beside,
    forward_streams,
    share_names,
    some_of,
)
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.cluster_design import ClusterDesign

FACING = {"front": "back", "back": "front"}
"""Each side of a board, and the side of the neighbour that it is connected to."""


class Side(NamedTuple):
    """A side of a board with a neighbour.

    Attributes:
        sends, takes: streams to the neighbour, and from it.
        sent, arrived: names of their links in the chain.
    """

    sends: Bundles
    takes: Bundles
    sent: str
    arrived: str


class Wires(Lanes):
    """Outgoing wires of a board at a side: words, and credits for the incoming words."""

    def __init__(self, words: Bundles, credited: Bundles) -> None:
        super().__init__(words)
        self.credits = Bundles({name: flag() for name in vars(credited)})


class BoardStatus(NodeStatus):
    """Status of a board: the status of its node, and the counters of its ends of the links."""

    def __init__(self, design: ClusterDesign, place: int, of: ClusterStatus) -> None:
        super().__init__(design.nodes[place], of)
        for side in _sides(design, place).values():
            for name, end in ((side.sent, "sent"), (side.arrived, "arrived")):
                setattr(self, name, some_of(getattr(of, name), [end]))


class BoardPorts(GivenPorts):
    """Ports of a board, with wires at each side that has a neighbour."""

    MEMBERS = given_all(
        config=Bundles,
        s_axis=Bundles,
        m_axis=Bundles,
        arriving=Bundles,
        leaving=Bundles,
        status=BoardStatus,
    )


def board_ports(design: ClusterDesign, place: int, chain: Interface) -> BoardPorts:
    """Create the ports of the board at a place, from 0: its ports of the chain, and wires."""
    each, sides = design.nodes[place], _sides(design, place)
    names = share_names(each)
    config = names + ["admission"] * (each.begins or each.ends) + ["link"] * bool(sides)
    return BoardPorts(
        config=some_of(chain.config, config),
        s_axis=some_of(chain.s_axis, names + ["map"] * each.begins + ["delta"] * each.ends),
        m_axis=some_of(chain.m_axis, names + ["map"] * each.ends),
        arriving=Bundles({at: Wires(side.takes, side.sends) for at, side in sides.items()}),
        leaving=Bundles({at: Wires(side.sends, side.takes) for at, side in sides.items()}),
        status=BoardStatus(design, place, chain.status),
    )


@entity
def board(
    clk: Bit, rst: Bit, start: Bit, ports: BoardPorts, design: ClusterDesign, place: int
) -> Any:
    """A node and its ends of the links; its ports are ports of the chain.

    arriving, leaving: wires at each side that has a neighbour.
    """
    config, s_axis, m_axis, status = ports.config, ports.s_axis, ports.m_axis, ports.status
    sides = _sides(design, place)
    ends = []
    for at, side in sides.items():
        come, go = getattr(ports.arriving, at), getattr(ports.leaving, at)
        ends += [
            link_near(
                clk,
                rst,
                start,
                pace=config.link.pace,
                s_axis=side.sends,
                lanes=go,
                freed=come.credits,
                sent=getattr(status, side.sent).sent,
                places=design.link.places,
            ),
            link_far(
                clk,
                rst,
                start,
                lanes=come,
                m_axis=side.takes,
                credits=go.credits,
                arrived=getattr(status, side.arrived).arrived,
                places=design.link.places,
            ),
        ]
    front, back = sides.get("front"), sides.get("back")
    names = share_names(design.nodes[place])
    own = node(
        clk,
        rst,
        start,
        config=config,
        s_axis=beside(
            some_of(s_axis, names),
            front=front.takes if front else Bundles({"maps": s_axis.map}),
            back=back.takes if back else Bundles({"errors": s_axis.delta}),
        ),
        m_axis=beside(
            some_of(m_axis, names),
            front=front.sends if front else None,
            back=back.sends if back else Bundles({"maps": m_axis.map}),
        ),
        status=status,
        design=design.nodes[place],
    )
    return ends, own


def _sides(design: ClusterDesign, place: int) -> dict[str, Side]:
    """Return the sides of a board that have a neighbour."""
    found = {}
    if not design.nodes[place].begins:
        on, back = _crossing(design, place)
        found["front"] = Side(back, on, f"link{place}_back", f"link{place}_on")
    if not design.nodes[place].ends:
        on, back = _crossing(design, place + 1)
        found["back"] = Side(on, back, f"link{place + 1}_on", f"link{place + 1}_back")
    return found


def _crossing(design: ClusterDesign, border: int) -> tuple[Bundles, Bundles]:
    """Return the forward and the backward streams across a border; borders count from 1."""
    last = design.nodes[border - 1].shares[-1]
    return axis(forward_streams(last)), axis(backward_streams(last))
