"""The entities of shipped designs, each with its ports as the exported VHDL has them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from alone import blocks_alone

from merp.cosim.machines.cnn_merp.chain.cluster import Cluster
from merp.cosim.machines.cnn_merp.phases.backward import backward_top
from merp.cosim.machines.cnn_merp.phases.delta import delta_top
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.machines.cnn_merp.phases.fused_forward import fused_forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_top
from merp.cosim.machines.cnn_merp.pipeline.pipeline import HardwarePipeline
from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import Bundles, Stream, bits, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.conversion.convert import Export, convert
from merp.hdl.mazouz.convolution_element import convolution_element
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import LoaderPorts
from merp.hdl.memory.memory_subsystem import EnginePorts, memory_subsystem
from merp.models.base.rates import PLAIN
from merp.models.machines.cnn_merp.at_once.places import DEPTH
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.models.machines.cnn_merp.chain.shares import cluster_design
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fused_pair import fused_design
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.settings import cluster_settings
from merp.models.machines.cnn_merp.params.unpool_registers import unpool_table
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.gradient_registers import GRADIENT_TABLES
from merp.models.machines.mac_array.params.input_registers import TABLES
from merp.models.machines.mac_array.params.output_registers import output_table
from merp.models.machines.mac_array.params.pass_registers import supply_settings
from merp.models.machines.mac_array.params.schedule_registers import SCHEDULE
from merp.models.machines.mac_array.params.unpool_registers import UNPOOL
from merp.models.machines.mac_array.params.update_registers import update_table
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import SubsystemDesign
from merp.models.network.network import Network
from merp.models.papers.mazouz.params.element import ElementDesign
from merp.models.papers.mazouz.params.element_registers import ELEMENT
from merp.testbenches.axi.axi_top import axi_registers_of, axi_top
from merp.testbenches.fcnn.conv_bench import top as conv_top
from merp.testbenches.fcnn.gradient_bench import top as gradient_top
from merp.testbenches.fcnn.pool_bench import pool_top, unpool_top
from merp.testbenches.fcnn.product_bench import top as product_top
from merp.testbenches.mac_array.scheduled_bench import scheduled_top
from merp.testbenches.mazouz.element_bench import arguments
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import bitstream_of

SHIPPED = (
    ("alexnet-kernel1", "conv2", "fp", {"state": True}),
    ("alexnet-kernel1", "conv2", "ku", {}),
    ("digits", "conv2", "dp", {}),
    ("digits", "conv2", "ku", {}),
    ("digits", "conv2", "fp", {"state": True}),
    ("alexnet-bf16", "conv2", "fp", {}),
    ("alexnet-bf16", "conv2", "ku", {}),
)
"""Designs whose entities are shown; an entity is taken from the first one that has it."""

BEHIND_AXI = SHIPPED[0]


@dataclass(frozen=True)
class Port:
    """A port as the VHDL has it."""

    name: str
    direction: str
    width: int


@dataclass(frozen=True)
class Block:
    """An entity. ``design`` says where it was found, ``settings`` what its registers mean."""

    function: Callable[..., Any]
    entity: str
    design: str
    ports: tuple[Port, ...]
    settings: Mapping[str, str]


@dataclass(frozen=True)
class Exported:
    """A design as VHDL: its top, the text of each entity, what its registers mean."""

    function: Callable[..., Any]
    export: Export
    texts: Mapping[str, str]
    settings: Mapping[str, str]


@cache
def shipped(case: int) -> Exported:
    """The design of that place in ``SHIPPED``."""
    network, layer, phase, choice = SHIPPED[case]
    opened = open_network(network)
    top = bitstream_of(opened, opened.layer(layer), phase, **choice).phase.top()
    settings = {each.name: each.meaning for each in axi_registers_of(top).registers}
    shown = axi_top(top) if SHIPPED[case] == BEHIND_AXI else top
    return _exported(shown.function, shown.args, settings)


def _optional() -> Iterator[tuple[Exported, str]]:
    """Engines with what no shipped design has, and what they are."""
    network = open_network("digits")
    layer = network.layer("conv2")
    design, delta = design_of(network, layer), delta_design(network, layer)
    before = delta_design(network, layer, before=True)
    update = replace(update_design(network, layer), kernel_port=4)
    for top, described in (
        (forward_top(replace(design, folded=True)), "fp, and fully connected layers"),
        (
            delta_top(delta._replace(engine=replace(delta.engine, folded=True))),
            "dp, and fully connected layers",
        ),
        (forward_top(replace(design, partial=True)), "fp, with partial sums"),
        (forward_top(replace(design, added=True)), "fp, adding another layer's output"),
        (kernel_update_top(update), "ku, kernel_port 4"),
        (forward_top(replace(design, kernel_port=4)), "fp, kernel_port 4"),
        (
            forward_top(replace(design, folded=True, kernel_port=4)),
            "fp, fully connected layers and kernel_port 4",
        ),
        (
            delta_top(delta._replace(engine=replace(delta.engine, folded=True, kernel_port=4))),
            "dp, fully connected layers and kernel_port 4",
        ),
        (
            forward_top(replace(design, folded=True, map_port=4)),
            "fp, fully connected layers and map_port 4",
        ),
        (forward_top(replace(design, partial=True, map_port=4)), "fp, partial sums and map_port 4"),
        (forward_top(replace(design, state=True, map_port=4)), "fp, state and map_port 4"),
        (delta_top(delta._replace(engine=replace(delta.engine, map_port=4))), "dp, map_port 4"),
        (
            delta_top(before._replace(engine=replace(before.engine, map_port=4))),
            "dp, pooled deltas and map_port 4",
        ),
        (
            forward_top(replace(design, added=True, map_port=4)),
            "fp, adding another layer's output, map_port 4",
        ),
        (kernel_update_top(replace(update, map_port=4)), "ku, map_port 4"),
        (
            kernel_update_top(replace(update, folded=True, widened=True)),
            "ku, fully connected layers, smaller kernels and kernel_port 4",
        ),
        (backward_top(backward_design(network, layer)), "dp and ku in one pass"),
        (fused_forward_top(_two_groups(network)), "fused with conv1, as if of two groups"),
    ):
        settings = {each.name: each.meaning for each in axi_registers_of(top).registers}
        yield _exported(top.function, top.args, settings), f"digits conv2, {described}"
    tiny = open_network("tiny3")
    top = HardwarePipeline(tiny, pipeline_design(tiny, DEPTH), PLAIN).top()
    settings = {each.name: each.meaning for each in axi_registers_of(top).registers}
    yield _exported(top.function, top.args, settings), "tiny3 as a pipeline"
    shares = cut(tiny, 3)
    design = cluster_design(tiny, shares, DEPTH)
    top = Cluster(tiny, shares, design, PLAIN).top()
    settings = {name: each.meaning for name, each in cluster_settings(design).items()}
    yield _exported(top.function, top.args, settings), "tiny3 on three nodes"


def _two_groups(network: Network) -> FusedDesign:
    """Of conv1 and conv2, the second of which stands there twice; for training."""
    pair = network.layer("conv1"), network.layer("conv2")
    return fused_design(network, *pair, state=True)._replace(groups=2)


def _exported(
    function: Callable[..., Any], args: Mapping[str, Any], settings: Mapping[str, str]
) -> Exported:
    with TemporaryDirectory() as folder:
        export = convert(function, args, "vhdl", Path(folder), fold=False)
        texts = {path.stem: path.read_text() for path in export.files}
    return Exported(function, export, texts, settings)


@cache
def blocks() -> dict[str, Block]:
    """Every block of the shipped designs, by name."""
    found: dict[str, Block] = {}
    for case, (network, layer, phase, _) in enumerate(SHIPPED):
        for name, block in _entities(shipped(case), f"{network} {layer}, {phase}"):
            found.setdefault(name, block)
    for top, described in _optional():
        for name, block in _entities(top, described):
            found.setdefault(name, block)
    for top in _mac_array():
        for name, block in _entities(top, "8 x 8 x 16"):
            found.setdefault(name, block)
    for name, block in _entities(_element(), "bfloat16, 3 x 3, maps of up to 32 x 32"):
        found.setdefault(name, block)
    for top, described in _fcnn():
        for name, block in _entities(top, described):
            found.setdefault(name, block)
    for name, block in _entities(_memory(), "a port of 128 bits, words of 32 bits"):
        found.setdefault(name, block)
    for function, args, design in blocks_alone():
        meanings = {}
        if isinstance(args.get("config"), UnpoolConfig):
            registers = unpool_table(args["design"]).registers
            meanings = {f"unpool_config_{each.name}": each.meaning for each in registers}
        found |= dict(_entities(_exported(function, args, meanings), design, alone=True))
    return found


def _mac_array() -> Iterator[Exported]:
    """The MAC array with all of its blocks inside."""
    design = ArrayDesign(
        pof=16, max_kernel=3, kernel_words=1024, map_words=1024, delta_words=256, mask_words=1024,
        index_words=256, pool_window=2, max_stride=2, max_size=64, max_maps=64, momentum=True,
        stochastic=True, loss=True,
    )  # fmt: skip
    settings = {
        **supply_settings(design),
        **output_table(design).settings(design),
        **update_table(design).settings(design),
        **UNPOOL.settings(design),
        **SCHEDULE.settings(design),
    }
    meanings = {name: setting.meaning for name, setting in settings.items()}
    # Inside, each bundle stands by itself.
    for table in (*TABLES, *GRADIENT_TABLES):
        bundle = table.bundle.removeprefix("supply_config_")
        meanings |= {f"{bundle}_config_{each.name}": each.meaning for each in table.registers}
    top = scheduled_top(design)
    yield _exported(top.function, top.args, meanings)


def _memory() -> Exported:
    """The memory subsystem with all of its blocks inside."""
    port = MemoryPort(data_bits=128)
    mover = Mover(port=port, word_bits=32)
    read, written = (("map", mover), ("kernel", mover)), (("out", mover), ("mask", mover))
    design = SubsystemDesign(port=port, readers=read, writers=written)
    registers = design.registers("0.0.0")
    args = {name: flag() for name in ("clk", "rst", "interrupt")}
    args |= {
        "s_axi": AxiLite(),
        "m_axi": Axi4(port),
        "loader": LoaderPorts(design),
        "engines": EnginePorts(engines=Bundles({"engine": AxiLite()}), interrupts=bits(1)),
        "design": design,
    }
    streams = {name: Stream(each.word_bits) for name, each in (*read, *written)}
    streams["map"].keep = bits(mover.word_bytes)
    args |= {"streams": Bundles(streams)}
    meanings = {each.name: each.meaning for each in registers.registers}
    return _exported(memory_subsystem, args | {"registers": registers}, meanings)


def _element() -> Exported:
    """The convolution element with all of its blocks inside."""
    design = ElementDesign(k=3, max_rows=32, max_columns=32)
    meanings = {name: each.meaning for name, each in ELEMENT.settings(design).items()}
    # The bundle is named after its class where it is explained.
    own = {name.replace("config", "element_config"): text for name, text in meanings.items()}
    return _exported(convolution_element, arguments(design), own)


def _fcnn() -> Iterator[tuple[Exported, str]]:
    """The modules of F-CNN with all of their blocks inside."""
    stream = StreamDesign(
        k=3, lanes=2, maps_at_once=2, max_rows=32, max_columns=32, max_maps=256, max_step=16,
        max_stride=2,
    )  # fmt: skip
    product = ProductDesign(
        size=4, blocks=2, turns=5, max_rows=1024, max_inner=1024, max_columns=1024
    )
    pooling = PoolDesign(
        lanes=4, window=2, stride=2, activation="tanh", max_rows=32, max_columns=32, max_maps=64,
        max_step=8,
    )  # fmt: skip
    at_once, blocks = "binary32, 3 x 3, 2 images and 2 maps at once", "2 blocks of 4 x 4, 5 in turn"
    beats = "2 x 2, tanh, 4 elements a beat"
    for top, described in (
        (conv_top(stream), at_once),
        (gradient_top(stream), at_once),
        (product_top(product), blocks),
        (pool_top(pooling), beats),
        (unpool_top(pooling), beats),
    ):
        meanings = {each.name: each.meaning for each in axi_registers_of(top).registers}
        # Inside, each bundle is named after its class.
        for name, setting in top.described.settings.items():
            for bundle in ("conv", "grid", "gradient", "product", "pool", "fcnn_unpool"):
                meanings[f"{bundle}_{name}"] = setting.meaning
        yield _exported(top.function, top.args, meanings), described


def _entities(exported: Exported, design: str, alone: bool = False) -> Iterator[tuple[str, Block]]:
    """The blocks of a design, the first configuration of each."""
    export, texts = exported.export, exported.texts
    seen = set()
    for entity, name in export.blocks.items():
        if name in seen or (alone and entity != export.top):
            continue
        seen.add(name)
        source = exported.function if entity == export.top else _source(texts[entity])
        code = getattr(source, "func", source)
        yield name, Block(code, entity, design, tuple(_ports(texts[entity])), exported.settings)


def _source(vhdl: str) -> Any:
    """The block that a file says it was generated from."""
    match = re.search(r": generated from ([\w.]+)\.(\w+);", vhdl)
    assert match, vhdl.partition("\n\n")[0]
    return getattr(importlib.import_module(match.group(1)), match.group(2))


def _ports(vhdl: str) -> Iterator[Port]:
    """The ports of the entity in a file."""
    interface = vhdl[vhdl.index("\nentity ") : vhdl.index("\nend entity ")]
    pattern = r"^ +(\w+) +: (in|out|inout) +\w+(?:\((\d+) downto 0\))?"
    for name, direction, high in re.findall(pattern, interface, re.MULTILINE):
        yield Port(name, direction, int(high) + 1 if high else 1)
