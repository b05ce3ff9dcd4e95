"""The ports that follow from a design: which there are, which way they go, what counts them."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest

from layers_in_passes import DELTA, FORWARD, UPDATE, undone
from merp.hdl.base.interface import DesignPorts, GivenPorts, given_all, given_some
from merp.hdl.base.signals import AxiStream, flag
from merp.hdl.cnn_merp.phases.backward import backward
from merp.hdl.cnn_merp.phases.delta import delta
from merp.hdl.cnn_merp.phases.forward import forward
from merp.hdl.cnn_merp.phases.fused_forward import fused_forward
from merp.hdl.cnn_merp.phases.kernel_update import kernel_update
from merp.hdl.cnn_merp.ports.delta_ports import DeltaPorts
from merp.hdl.cnn_merp.ports.forward_ports import ForwardHalfPorts, ForwardPorts
from merp.hdl.cnn_merp.ports.kernel_update_ports import KernelUpdatePorts, UpdateDesign
from merp.hdl.mac_array.phases.scheduled_trainer import scheduled_trainer
from merp.hdl.mac_array.phases.trainer import trainer
from merp.models.base.rates import UpdateRule

TOPS = (forward, delta, kernel_update, backward, fused_forward, trainer, scheduled_trainer)


@pytest.mark.parametrize("top", TOPS, ids=lambda top: top.__name__)
def test_a_top_takes_its_ports_as_one(top: object) -> None:
    parameters = inspect.signature(top.func).parameters  # type: ignore[attr-defined]
    assert len(parameters) <= 8
    assert list(parameters)[:5] == ["clk", "rst", "start", "ports", "design"]


INTERFACES: dict[str, DesignPorts[object]] = {
    **{f"fp{place}": ForwardPorts(design) for place, design in enumerate(FORWARD)},
    "fp added": ForwardPorts(replace(FORWARD[12], added=True)),
    **{f"dp{place}": DeltaPorts(design) for place, design in enumerate(DELTA)},
    **{
        f"ku{place}": KernelUpdatePorts(
            UpdateDesign(
                design, UpdateRule(momentum=bool(place % 2)), undone(design) if before else None
            )
        )
        for place, (design, before) in enumerate(UPDATE)
    },
}  # type: ignore[dict-item]


@pytest.mark.parametrize("name", INTERFACES)
def test_every_stream_has_a_way_and_a_counter(name: str) -> None:
    ports = INTERFACES[name]
    streams = {key: each for key, each in vars(ports).items() if isinstance(each, AxiStream)}
    assert {*ports.sinks, *ports.sources} == streams.keys() == {*ports.counted.values()}
    assert all(stream.startswith("s_axis_") for stream in ports.sinks)
    assert all(stream.startswith("m_axis_") for stream in ports.sources)
    assert ports.counted.keys() <= vars(ports.status).keys()
    others = {*streams, *ports.registers, "status"}
    assert vars(ports).keys() == others


def test_registers_of_a_pass_lie_last() -> None:
    design = replace(FORWARD[5], widened=True, kernel_port=2, added=True)
    registers = list(ForwardPorts(design).registers)
    assert registers[-1] == "pass_config"
    assert registers.index("kernel_config") < registers.index("pass_config")


def test_what_is_given_is_taken_and_all_else_is_made() -> None:
    design, stream = FORWARD[1], AxiStream(32)
    ports = ForwardPorts(design, m_axis_map=stream)
    assert ports.m_axis_map is stream
    assert ports.s_axis_map is not ForwardPorts(design).s_axis_map
    with pytest.raises(TypeError, match="ForwardPorts has no s_axis_add, start"):
        ForwardPorts(design, s_axis_add=stream, start=flag())


def test_a_half_of_a_pass_tells_in_the_place_of_its_status() -> None:
    whole, half = ForwardPorts(FORWARD[1]), ForwardHalfPorts(FORWARD[1])
    assert vars(half).keys() == (vars(whole).keys() - {"status"}) | {"half"}


class Block(GivenPorts):
    """Ports of a block."""

    MEMBERS = (*given_all(sink=AxiStream, enable=None), *given_some(more=AxiStream))


def test_whoever_has_a_block_brings_its_ports() -> None:
    sink, enable = AxiStream(8), flag()
    assert vars(Block(enable=enable, sink=sink)) == {"sink": sink, "enable": enable}
    assert list(vars(Block(more=sink, enable=enable, sink=sink))) == ["sink", "enable", "more"]
    assert not Block(sink=sink, enable=enable).has("more")
    with pytest.raises(TypeError, match="enable must be given"):
        Block(sink=sink)
    with pytest.raises(TypeError, match="Block has no other"):
        Block(sink=sink, enable=enable, other=sink)


def test_no_port_hides_what_an_interface_does() -> None:
    class Hidden(GivenPorts):
        MEMBERS = given_all(registers=None)

    with pytest.raises(TypeError, match="Hidden cannot have a port named registers"):
        Hidden(registers=flag())
