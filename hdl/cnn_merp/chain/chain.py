"""A chain of nodes with links between them: FPDeep's cluster, with all boards in one clock domain.

Source: FPDeep, section III: the network is distributed along the chain, and each board has a share
of one or more layers.
"""

from __future__ import annotations

from typing import Any

from merp.hdl.base.gather import gather
from merp.hdl.base.signals import Bundles
from merp.hdl.cnn_merp.chain.link import link
from merp.hdl.cnn_merp.chain.node import node
from merp.hdl.cnn_merp.chain.ports import (
    ClusterStatus,
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


@entity
def chain(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: Bundles,
    s_axis: Bundles,
    m_axis: Bundles,
    status: ClusterStatus,
    design: ClusterDesign,
) -> Any:
    """Train a network that is distributed over several nodes on a batch: one run is a step.

    start begins a run of all nodes; the configuration must be stable from start to status_done. The
    rest is described at node.

    config  in   registers of admission, of the links, and of every share: share1_fp, ...
    s_axis  in   map: images in the order image, row, column, map. delta: deltas of the last layer's
                 output, in the same order. For each share: share1_fp_kernel (order m, n, row,
                 column), ...
    m_axis  out  map: output of the last layer in the order image, row, column, map. For each share:
                 share1_ku_kernel, ...
    status  out  flags, number of images in the chain, and the counters of every engine, store and
                 link

    Throughput: an image takes as many cycles as in the slowest engine or link, if enough images may
    be in the chain. Reset: synchronous, active high; the run is abandoned.
    """
    borders = [
        (forward_streams(each.shares[-1]), backward_streams(each.shares[-1]))
        for each in design.nodes[:-1]
    ]
    ons = [*(axis(on) for on, _ in borders), Bundles({"maps": m_axis.map})]
    fronts = [Bundles({"maps": s_axis.map}), *(axis(on) for on, _ in borders)]
    backs = [*(axis(back) for _, back in borders), Bundles({"errors": s_axis.delta})]
    to_fronts = [axis(back) for _, back in borders]
    told = [NodeStatus(each, status) for each in design.nodes]
    links, nodes = [], []
    for border in range(len(borders)):
        for way, sinks, sources in (
            ("on", ons[border], fronts[border + 1]),
            ("back", to_fronts[border], backs[border]),
        ):
            counters = getattr(status, f"link{border + 1}_{way}")
            links.append(
                link(
                    clk,
                    rst,
                    start,
                    pace=config.link.pace,
                    s_axis=sinks,
                    m_axis=sources,
                    sent=counters.sent,
                    arrived=counters.arrived,
                    latency=design.link.latency,
                    places=design.link.places,
                )
            )
    for place, each in enumerate(design.nodes):
        names = share_names(each)
        nodes.append(
            node(
                clk,
                rst,
                start,
                config=some_of(config, names + ["admission"] * (each.begins or each.ends)),
                s_axis=beside(some_of(s_axis, names), front=fronts[place], back=backs[place]),
                m_axis=beside(
                    some_of(m_axis, names),
                    front=to_fronts[place - 1] if place else None,
                    back=ons[place],
                ),
                status=told[place],
                design=each,
            )
        )
    return links, nodes, gather(told, status=status)
