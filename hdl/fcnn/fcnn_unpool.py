"""Top of activation and pooling of F-CNN, backward propagation."""

from __future__ import annotations

from typing import Any, ClassVar

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import BYTE, stream_of
from merp.hdl.base.word_counters import word_counters
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.fcnn.beat_ports import full_beats
from merp.hdl.fcnn.module_ports import status_of, stream_of_words
from merp.hdl.fcnn.pool_counters import PoolProgress, pool_counters
from merp.hdl.fcnn.pool_walk import FcnnUnpoolConfig
from merp.hdl.fcnn.stream_unpool import stream_unpool
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.params.pool_registers import POOL_COUNTERS, UNPOOL_WORDS


def _lanes(design: PoolDesign) -> int:
    return design.lanes


class FcnnUnpoolPorts(DesignPorts[PoolDesign]):
    """Ports of the top; designs have ``s_axis_state`` and ``s_axis_map`` only if they read them."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("config", FcnnUnpoolConfig),
        stream_of_words(UNPOOL_WORDS["delta_in"], "delta_in", _lanes),
        stream_of_words(
            UNPOOL_WORDS["state_in"], "state_in", _lanes, lambda design: BYTE,
            lambda design: design.keeps_state,
        ),
        stream_of_words(
            UNPOOL_WORDS["map_in"], "map_in", _lanes, there=lambda design: design.keeps_map
        ),
        stream_of_words(UNPOOL_WORDS["delta_out"], "delta_out", _lanes),
        status_of(POOL_COUNTERS, lambda design: FcnnUnpoolPorts.streams_of(design)),
    )  # fmt: skip
    WORDS = tuple(UNPOOL_WORDS)


@entity
def fcnn_unpool(clk: Bit, rst: Bit, start: Bit, ports: FcnnUnpoolPorts, design: PoolDesign) -> Any:
    """Expand the deltas of pooled maps: a beat of lanes images per cycle.

    start         in   pulse: a run begins; registers are stable from here to done
    s_axis_delta  in   deltas of the pooled maps: map, row, column, images of the batch
    s_axis_state  in   (with pooling or ReLU) a byte for each delta. Bit 0 is the mask of ReLU.
                       Above it is the position of the maximum in its window.
    s_axis_map    in   (with tanh) the pooled maps behind the activation
    m_axis_delta  out  deltas before pooling and in front of the activation

    All beats are full, so tkeep of an input is not read. Word counters count elements. Latency and
    throughput: those of stream_unpool. Reset: no run.
    """
    progress = PoolProgress()
    state = stream_of(ports.s_axis_state) if design.keeps_state else None
    maps = stream_of(ports.s_axis_map) if design.keeps_map else None
    filled = [ports.m_axis_delta] if design.lanes > 1 else []
    return (
        stream_unpool(
            clk, rst, start, config=ports.config, sink=stream_of(ports.s_axis_delta),
            source=stream_of(ports.m_axis_delta), progress=progress, design=design, state=state,
            maps=maps,
        ),
        [full_beats(stream=each) for each in filled],
        pool_counters(clk, rst, start, progress=progress, status=ports.status),
        word_counters(clk, rst, start, ports),
    )  # fmt: skip
