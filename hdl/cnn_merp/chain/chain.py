"""A chain of nodes with links between them: FPDeep's cluster, all boards in one clock.

FPDeep section III: a network lies along the chain, each board has its share of one or more layers.
"""

from __future__ import annotations

from typing import Any

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
from merp.hdl.cnn_merp.pipeline.gather import gather
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
    """Train a network that lies on several nodes on a batch: one run is a step.

    start begins a run of all nodes; the configuration must be stable from start to status_done.
    Everything else is as in one node; see there.

    config  in   registers of admission, of the links, and of every share: share1_fp, ...
    s_axis  in   map: images in the order image, row, column, map; delta: of the last layer's
                 output, in this order; for each share share1_fp_kernel (order m, n, row, column),
                 ...
    m_axis  out  map: output of the last layer in the order image, row, column, map; for each share
                 share1_ku_kernel, ...
    status  out  flags, images on their way, and what every engine, store and link counts

    Throughput: an image in as many cycles as the slowest engine or link takes for one, where images
    enough may be on their way. Reset: synchronous, active high; the run is abandoned.
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
