"""Tables of the ports of each block: ``python docs/ports.py NAME ...`` prints them.

The site's hook appends the tables of the blocks that a page names in its first heading.
Names, directions and widths are those of the exported VHDL of shipped designs. Meanings come from
the block's docstring, the comments of its bundles' fields, and the register map of the top.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
import sys
import textwrap
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from merp.cosim.machines.cnn_merp.chain.cluster import Cluster
from merp.cosim.machines.cnn_merp.phases.backward import backward_top
from merp.cosim.machines.cnn_merp.phases.delta import delta_top
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.machines.cnn_merp.phases.fused_forward import fused_forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_top
from merp.cosim.machines.cnn_merp.pipeline.pipeline import HardwarePipeline
from merp.hdl.arithmetic.byte_value import byte_value
from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.arithmetic.fp_widen import fp_widen
from merp.hdl.arithmetic.low_product import low_product
from merp.hdl.base.interface import DesignPorts
from merp.hdl.base.signals import AxiStream, Bundles, Stream, bits, count, flag
from merp.hdl.base.tap_line import tap_line
from merp.hdl.cnn_merp.phases.stored_stream import stored_stream
from merp.hdl.cnn_merp.upsampling.unpool_ports import OfferedWord
from merp.hdl.cnn_merp.upsampling.unpool_scale import unpool_scale
from merp.hdl.conversion.convert import Export, convert
from merp.hdl.conversion.docstring import docstring
from merp.hdl.fused.fused_element import fused_element
from merp.hdl.mac_array.map_buffer.region_rotator import region_rotator
from merp.hdl.mazouz.convolution_element import convolution_element
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import BINARY16, BINARY32, FloatFormat
from merp.models.base.fused import OPERAND_BITS
from merp.models.base.rates import PLAIN
from merp.models.base.tap_line import TapLine
from merp.models.machines.cnn_merp.at_once.places import DEPTH
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.models.machines.cnn_merp.chain.shares import cluster_design
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fused_pair import fused_design
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.settings import cluster_settings
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.gradient_registers import GRADIENT_TABLES
from merp.models.machines.mac_array.params.input_registers import TABLES
from merp.models.machines.mac_array.params.output_registers import output_table
from merp.models.machines.mac_array.params.pass_registers import supply_settings
from merp.models.machines.mac_array.params.schedule_registers import SCHEDULE
from merp.models.machines.mac_array.params.unpool_registers import UNPOOL
from merp.models.machines.mac_array.params.update_registers import update_table
from merp.models.network.network import Network
from merp.models.papers.mazouz.params.element import ElementDesign
from merp.models.papers.mazouz.params.element_registers import ELEMENT
from merp.testbenches.axi.axi_top import axi_registers_of, axi_top
from merp.testbenches.mac_array.scheduled_bench import scheduled_top
from merp.testbenches.mazouz.element_bench import arguments
from merp.tools.bitstream.bitstream import bitstream_of
from merp.tools.common.shipped import open_network

PAGES = Path(__file__).resolve().parent / "blocks"

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

COMMON = {
    "clk": "clock",
    "rst": "synchronous reset, active high",
    "start": "pulse: a run begins",
    "aclk": "clock",
    "aresetn": "synchronous reset, active low",
}
HANDSHAKE = {
    "valid": "a word is there",
    "ready": "the word is taken in a cycle with both high",
    "last": "with the last word of the run",
    "keep": "a bit for each byte of the word: it counts",
}


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
    for function, args, design in _alone():
        found |= dict(_entities(_exported(function, args, {}), design, alone=True))
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


def _element() -> Exported:
    """The convolution element with all of its blocks inside."""
    design = ElementDesign(k=3, max_rows=32, max_columns=32)
    meanings = {name: each.meaning for name, each in ELEMENT.settings(design).items()}
    # The bundle is named after its class where it is explained.
    own = {name.replace("config", "element_config"): text for name, text in meanings.items()}
    return _exported(convolution_element, arguments(design), own)


def _alone() -> Iterator[tuple[Callable[..., Any], dict[str, Any], str]]:
    """Blocks that only designs have which are not shipped."""
    wide = FloatFormat(BINARY32.exp_bits, BINARY32.frac_bits + 4)
    args = {"clk": flag(), "a": bits(wide.width), "y": bits(BINARY32.width)}
    yield fp_convert, args | {"fmt": wide, "target": BINARY32}, "36 bits to 32"
    args = {"a": bits(BINARY16.width), "y": bits(BINARY32.width)}
    yield fp_widen, args | {"fmt": BINARY16, "target": BINARY32}, "binary16 to binary32"
    args = {"a": bits(8), "y": bits(BINARY32.width), "values": ByteImage().words(BINARY32)}
    yield byte_value, args, "a byte to binary32"
    streams = {"sink": AxiStream(BINARY16.width, 4), "source": AxiStream(BINARY32.width, 4)}
    formats = {"stored": BINARY16, "fmt": BINARY32}
    yield stored_stream, streams | formats, "4 elements, binary16 to binary32"
    args = {"clk": flag(), "operand": bits(OPERAND_BITS + 1), "element": bits(BINARY32.width)}
    yield fused_element, args, "the sign above"
    yield low_product, {"a": bits(24), "b": bits(8), "y": bits(32)}, "24 bits times 8"
    line = TapLine(k=3, width=16, lanes=4, max_step=8, max_columns=32)
    args = {name: flag() for name in ("clk", "start", "advance")}
    args |= {"sink": bits(line.beat_width), "window": bits(line.window_width), "params": line}
    args |= {"columns": count(line.max_columns), "step": count(line.max_step)}
    yield tap_line, args, "4 elements of 16 bits a beat, up to 8 beats a column"
    args = {"x": bits(128), "shift": bits(3), "level": bits(2), "y": bits(128)}
    yield region_rotator, args | {"places": 8, "width": 16}, "8 words of 16 bits"
    network = open_network("digits")
    unpool = delta_design(network, network.layer("conv2")).unpool
    ports = ("clk", "rst", "average", "valid", "ready")
    words = ("scale", "data")
    signals = {name: flag() for name in ports} | {name: bits(BINARY32.width) for name in words}
    averaging = replace(unpool, average=True)
    signals |= {"word": OfferedWord(averaging), "design": averaging}
    yield unpool_scale, signals, "digits, averages"


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


def meanings(block: Block) -> dict[str, str]:
    """What each port of a block means; empty where nothing says so."""
    said = _said(block.function)
    hints = _hints(block.function)
    found: dict[str, str] = {}
    for port in block.ports:
        formal = max((name for name in hints if _belongs(port.name, name)), key=len)
        field = port.name.removeprefix(formal).removeprefix("_")
        found[port.name] = (
            _field_meaning(hints[formal], field, said.get(formal, ""), block.settings)
            if field
            else said.get(formal, COMMON.get(formal, ""))
        ) or _by_pattern(port.name, said)
    return found


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Class of each argument, and of each bundle of those whose bundles have names of their own."""
    found: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(function).items():
        if inspect.isclass(hint) and issubclass(hint, DesignPorts):
            found |= {each.name: each.type for each in hint.MEMBERS}
        else:
            found[name] = hint
    return found


def _belongs(port: str, formal: str) -> bool:
    return port == formal or port.startswith(f"{formal}_")


def _by_pattern(port: str, said: Mapping[str, str]) -> str:
    """A docstring may speak of all ports that begin alike: ``s_axis_*``."""
    for name, meaning in said.items():
        if name.endswith("*") and port.startswith(name[:-1]):
            return meaning
    return ""


@cache
def _said(function: Callable[..., Any]) -> Mapping[str, str]:
    """Meanings in a docstring: ``name, name  in  meaning`` lines, or ``name: meaning.``."""
    found: dict[str, str] = {}
    rest: list[str] = []
    names: list[str] = []
    way = "" if inspect.isclass(function) else "(?:in|out)(?:, (?:in|out))* {2,}"
    for line in _docstring(function).splitlines():
        match = re.match(rf"([\w*]+(?:, [\w*]+)*) {{2,}}{way}(.*)", line)
        if match:
            names = match.group(1).split(", ")
            found |= dict.fromkeys(names, match.group(2))
        elif names and line.startswith("  "):
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
        else:
            names = []
            rest.append(line)
    described = inspect.isclass(function)
    known = "|".join(inspect.signature(function).parameters if described else _hints(function))
    start = rf"\b((?:{known})(?:, (?:{known}))*): "
    text = re.sub(r"\s+", " ", "\n".join(rest))
    for match in re.finditer(rf"{start}(.*?)(?=[;.,]? {start}|\.(?: [A-Z]|$)|$)", text):
        for name in match.group(1).split(", "):
            found.setdefault(name, match.group(2).rstrip(".;"))
    return found


def _docstring(described: Callable[..., Any]) -> str:
    """The docstring of a block or of a bundle's class, from its source."""
    if not inspect.isclass(described):
        return docstring(described)
    try:
        source = textwrap.dedent(inspect.getsource(described))
    except (OSError, TypeError):  # a class of Python's own
        return ""
    return ast.get_docstring(ast.parse(source).body[0]) or ""


def _field_meaning(bundle: Any, field: str, said: str, settings: Mapping[str, str]) -> str:
    """Meaning of a bundle's field, the field's own before the bundle's."""
    classes = [each for each in typing.get_args(bundle) or (bundle,) if inspect.isclass(each)]
    family = [relative for each in classes for relative in _family(each)]
    for each in family:
        for name, inner in _inner(each).items():
            if field.startswith(f"{name}_"):
                own = _comments(each).get(name) or _said(each).get(name) or said
                return _field_meaning(inner, field.removeprefix(f"{name}_"), own, settings)
    if Stream in family or AxiStream in family:
        return HANDSHAKE.get(field.removeprefix("t"), said)
    kinds = ("Config", "Status")
    prefix = {_prefix(each.__name__) for each in family if each.__name__.endswith(kinds)}
    for name in (*(f"{each}_{field}" for each in sorted(prefix)), field):
        if name in settings:
            return settings[name]
    for each in family:
        if comment := _comments(each).get(field) or _said(each).get(field):
            return comment
    return said


@cache
def _family(bundle: type) -> tuple[type, ...]:
    """A class, what it stands on and what stands on it: a subclass may be what is handed over."""
    above = [each for each in bundle.__mro__ if each is not object]
    return (*above, *(sub for each in bundle.__subclasses__() for sub in _family(each)))


@cache
def _inner(bundle: type) -> dict[str, Any]:
    """The bundles that a class keeps: what its fields are made of, or are handed over as."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(bundle)))
    except (OSError, TypeError):
        return {}
    known = vars(sys.modules[bundle.__module__]) | typing.get_type_hints(bundle.__init__)
    fields = getattr(bundle, "__dataclass_fields__", {})
    found = {field: known[field] for field in fields if _is_bundle(known.get(field))}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=field)])
                | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=field))
            ) if node.value is not None:
                made = node.value.body if isinstance(node.value, ast.IfExp) else node.value
                maker = made.func if isinstance(made, ast.Call) else made
                hint = known.get(maker.id) if isinstance(maker, ast.Name) else None
                if _is_bundle(hint):
                    found[field] = hint
    return found


def _is_bundle(hint: Any) -> bool:
    classes = filter(inspect.isclass, typing.get_args(hint) or (hint,))
    return any(each.__module__.startswith("merp.hdl.") for each in classes)


@cache
def _comments(bundle: type) -> dict[str, str]:
    """The comment beside each field that a class sets."""
    try:
        source = inspect.getsource(bundle)
    except (OSError, TypeError):
        return {}
    return dict(re.findall(r"^ +self\.(\w+)(?:: Any)? = .*?  # (.*)$", source, re.MULTILINE))


def _prefix(name: str) -> str:
    """A bundle's argument in the tops: ``map_config`` of ``MapConfig``, ``status`` of any.

    ``Array`` marks bundles of the MAC array whose names would be those of other machines.
    """
    if name.endswith("Status"):
        return "status"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removeprefix("Array")).lower()


def _gathered(block: Block) -> Iterator[Port]:
    """The ports, those of a bundle of bundles as one for each engine, or stream, that it is of."""
    hints = _hints(block.function)
    bundles = tuple(f"{name}_" for name, hint in hints.items() if _holds_bundles(hint))
    gathered = (_gather(port, bundles) for port in block.ports)
    for (name, direction), some in groupby(gathered, key=lambda port: (port.name, port.direction)):
        yield Port(name, direction, sum(port.width for port in some))


def _holds_bundles(hint: Any) -> bool:
    return inspect.isclass(hint) and issubclass(hint, Bundles)


def _gather(port: Port, bundles: tuple[str, ...]) -> Port:
    """A port, named ``..._*`` for all those that are of the same engine or stream."""
    head = next((name for name in bundles if port.name.startswith(name)), None)
    if head is None:
        return port
    match = re.match(rf"({head}(?:layer\d+_)?(?:fp|dp|ku|admission|features|states)_)", port.name)
    stream = re.match(
        r"([sm]_axis_(?:layer\d+_)?(?:fp|ku)_\w+?_)t(?:data|valid|ready|last)$", port.name
    )
    found = stream or match
    direction = "in, out" if stream else port.direction
    return Port(f"{found.group(1)}*", direction, port.width) if found else port


def table(name: str) -> str:
    """The table of a block's ports, in Markdown.

    Raises:
        KeyError: no shipped design has such a block.
    """
    block = blocks()[name]
    meaning = meanings(block)
    said = _said(block.function)
    before = ""
    lines = [
        f"Ports of `{block.entity}`, widths of {block.design}:",
        "",
        "| port | | bits | meaning |",
        "|---|---|---|---|",
    ]
    for port in _gathered(block):
        formal = next((name for name in said if _belongs(port.name, name)), "")
        text = said[formal] if port.name.endswith("*") else meaning[port.name]
        text = text.replace("|", "\\|").replace("*", "\\*")
        text, before = ('"' if text == before else text), text
        lines.append(f"| `{port.name}` | {port.direction} | {port.width} | {text} |")
    return "\n".join(lines)


def filled(page: str) -> str:
    """A block's page in Markdown, with the ports of the blocks that its first heading names."""
    named = [name for name in re.findall(r"\w+", page.partition("\n")[0]) if name in blocks()]
    section = ["## Ports", *map(table, named)] if named else []
    return "\n\n".join([page.rstrip("\n"), *section]) + "\n"


def main() -> int:
    """Print the tables of the blocks that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument(
        "blocks", nargs="*", metavar="NAME", help="a block, such as cu_array (default: all)"
    )
    args = parser.parse_args()
    for name in args.blocks:
        if name not in blocks():
            parser.error(f"{name}: no block of a shipped design; allowed: {', '.join(blocks())}")
    print("\n\n".join(table(name) for name in args.blocks or blocks()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
