"""Top of activation and pooling of F-CNN, forward propagation."""

from __future__ import annotations

from typing import Any, ClassVar

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import BYTE, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.fcnn.beat_ports import full_beats
from merp.hdl.fcnn.module_ports import status_of, stream_of_words
from merp.hdl.fcnn.pool_counters import PoolProgress, pool_counters
from merp.hdl.fcnn.pool_walk import PoolConfig
from merp.hdl.fcnn.stream_pool import stream_pool
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.params.pool_registers import POOL_COUNTERS, POOL_WORDS


def _lanes(design: PoolDesign) -> int:
    return design.lanes


class FcnnPoolPorts(DesignPorts[PoolDesign]):
    """Ports of the top; designs without state bytes have no ``m_axis_state``."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("config", PoolConfig),
        stream_of_words(POOL_WORDS["map_in"], "map_in", _lanes),
        stream_of_words(POOL_WORDS["map_out"], "map_out", _lanes),
        stream_of_words(
            POOL_WORDS["state_out"], "state_out", _lanes, lambda design: BYTE,
            lambda design: design.keeps_state,
        ),
        status_of(POOL_COUNTERS, lambda design: FcnnPoolPorts.streams_of(design)),
    )  # fmt: skip
    WORDS = tuple(POOL_WORDS)


@entity
def fcnn_pool(clk: Bit, rst: Bit, start: Bit, ports: FcnnPoolPorts, design: PoolDesign) -> Any:
    """Pool maps by their maxima and apply the activation: a beat of lanes images per cycle.

    start         in   pulse: a run begins; registers are stable from here to done
    s_axis_map    in   maps: map, row, column, images of the batch
    m_axis_map    out  pooled maps behind the activation, in the same order
    m_axis_state  out  (with pooling or ReLU) a byte for each pooled element. Bit 0 is the mask of
                       ReLU. Above it is the position of the maximum in its window.

    All beats are full, so tkeep of an input is not read. Word counters count elements. Latency and
    throughput: those of stream_pool. Reset: no run.
    """
    progress = PoolProgress()
    state, filled = None, [ports.m_axis_map]
    if design.keeps_state:
        state = stream_of(ports.m_axis_state)
        filled.append(ports.m_axis_state)
    return (
        stream_pool(
            clk, rst, start, config=ports.config, sink=stream_of(ports.s_axis_map),
            source=stream_of(ports.m_axis_map), progress=progress, design=design, state=state,
        ),
        [full_beats(stream=each) for each in filled if each.tkeep is not None],
        pool_counters(clk, rst, start, progress=progress, status=ports.status),
        word_counters(clk, rst, start, ports),
    )  # fmt: skip
