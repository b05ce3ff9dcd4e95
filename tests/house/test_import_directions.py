"""Imports point left, models <- hdl <- testbenches <- cosim <- tools, and down between the rooms.

A room is a folder of a tree; a file that stands in the tree itself is a room of its own.
"""

import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from checkout import ROOT

ORDER = ("models", "hdl", "testbenches", "cosim", "tools")
FRONT = ROOT / "tools" / "front"
"""The package itself: it names what the library and others offer."""
DATA = ROOT / "tools" / "data"  # templates
FILES = sorted(
    path
    for folder in ORDER
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(FRONT) and not path.is_relative_to(DATA)
)

Rooms = Mapping[str, frozenset[str]]
"""Of each room of a tree, the rooms that it may import."""


def rooms(*floors: Mapping[str, str]) -> Rooms:
    """Declared from the bottom up, each with the rooms below it that it may import, "" for none."""
    return {room: frozenset(below.split()) for floor in floors for room, below in floor.items()}


CNN_MERP = "machines.cnn_merp"
FCNN = "machines.fcnn"
MAC_ARRAY = "machines.mac_array"
MODELS = rooms(
    {"base": "", "rows": ""},
    {"arithmetic": "base", "network": "base", "fpga": "base"},
    {"memory.params": "base", "memory": "base fpga memory.params"},
    {"papers": "base network"},
    {"papers.fcnn": "papers", "papers.mazouz": "base network"},
    {"papers.fpdeep": "base network rows"},
    {"papers.mazouz.params": "base"},
    {"onnx": "base arithmetic network"},
    {"golden": "base arithmetic network", "traffic": "base network fpga papers"},
    {f"{CNN_MERP}.params": "base"},
    {f"{CNN_MERP}.fpga": f"base fpga papers {CNN_MERP}.params"},
    {f"{CNN_MERP}.traffic": f"base traffic {CNN_MERP}.params"},
    {CNN_MERP: f"base network fpga papers {CNN_MERP}.fpga {CNN_MERP}.params"},
    {f"{CNN_MERP}.memory": f"base memory network traffic {CNN_MERP} {CNN_MERP}.params"},
    {f"{CNN_MERP}.at_once": f"base network rows {CNN_MERP} {CNN_MERP}.params"},
    {
        f"{CNN_MERP}.chain": f"base network fpga rows {CNN_MERP} {CNN_MERP}.at_once "
        f"{CNN_MERP}.params"
    },
    {f"{CNN_MERP}.plan": f"base network fpga traffic {CNN_MERP} {CNN_MERP}.fpga {CNN_MERP}.params"},
    {
        f"{CNN_MERP}.pipeline": f"base network rows {CNN_MERP} {CNN_MERP}.at_once "
        f"{CNN_MERP}.params {CNN_MERP}.plan"
    },
    {f"{FCNN}.params": "base"},
    {FCNN: f"base network arithmetic golden traffic {FCNN}.params"},
    {f"{MAC_ARRAY}.params": "base"},
    {MAC_ARRAY: f"base network arithmetic golden traffic {MAC_ARRAY}.params"},
    {f"{MAC_ARRAY}.memory": f"base memory network {MAC_ARRAY} {MAC_ARRAY}.params"},
    {f"{MAC_ARRAY}.rtl_compiler": f"base network {MAC_ARRAY} {MAC_ARRAY}.params"},
    {"comparison": "base network fpga rows traffic papers papers.fcnn papers.fpdeep papers.mazouz"},
    {"explore": "base network fpga comparison papers.mazouz"},
    {
        f"{CNN_MERP}.comparison": f"base network fpga traffic papers comparison {CNN_MERP} "
        f"{CNN_MERP}.fpga {CNN_MERP}.params {CNN_MERP}.plan"
    },
    {
        f"{CNN_MERP}.explore": f"base network fpga explore {CNN_MERP}.fpga {CNN_MERP}.params "
        f"{CNN_MERP}.plan"
    },
    {
        f"{MAC_ARRAY}.comparison": f"base network fpga papers comparison {MAC_ARRAY} "
        f"{MAC_ARRAY}.params {MAC_ARRAY}.rtl_compiler"
    },
)

# A block declares its behavioural twin, so twins stand below the blocks and know none of them.
BASE = "conversion base"
SHARED = f"{BASE} streams arithmetic axi fused behavioural"
PORTS = f"{SHARED} cnn_merp.ports"
BLOCKS = (
    "cu_array", "delta_buffer", "gradient_array", "input_buffer", "kernel_loader", "sequencer",
    "super_layer", "update_unit", "upsampling",
)  # fmt: skip
EVERY_BLOCK = " ".join(f"cnn_merp.{room}" for room in BLOCKS)
MAC_PORTS = f"{SHARED} mac_array.ports"
MAC_BLOCKS = (
    "array", "delta_buffer", "kernel_buffer", "map_buffer", "output", "sequencer", "update",
)  # fmt: skip
EVERY_MAC_BLOCK = " ".join(f"mac_array.{room}" for room in MAC_BLOCKS)
HDL = rooms(
    {"conversion.base": ""},
    {"conversion.process": "conversion.base"},
    {"conversion": "conversion.base conversion.process"},
    {"base": "conversion conversion.base", "behavioural": "conversion conversion.base"},
    {"fast_simulation": "conversion conversion.base"},
    {"streams": BASE, "arithmetic": f"{BASE} behavioural", "axi": f"{BASE} conversion.base"},
    {"fused": f"{BASE} arithmetic behavioural"},
    {"cnn_merp.ports": SHARED, "cnn_merp.behavioural": "conversion behavioural cnn_merp.ports"},
    {f"cnn_merp.{room}": f"{PORTS} cnn_merp.behavioural" for room in BLOCKS},
    {"cnn_merp.phases": f"{PORTS} cnn_merp.behavioural {EVERY_BLOCK}"},
    {"cnn_merp.pipeline": f"{PORTS} cnn_merp.phases"},
    {"cnn_merp.chain": f"{PORTS} cnn_merp.pipeline"},
    {"mac_array.ports": SHARED, "mac_array.behavioural": "conversion behavioural mac_array.ports"},
    {f"mac_array.{room}": f"{MAC_PORTS} mac_array.behavioural" for room in MAC_BLOCKS},
    {"mac_array.phases": f"{MAC_PORTS} mac_array.behavioural {EVERY_MAC_BLOCK}"},
    {"memory": f"{BASE} streams axi"},
    {"mazouz": SHARED, "fcnn": SHARED},
)

TESTBENCHES = rooms(
    {"block": "", "top": "block", "axi": "block top"},
    {"arithmetic": "block", "cnn_merp": "block top arithmetic", "mac_array": "block top"},
    {"mazouz": "block", "memory": "block", "fcnn": "block top"},
    {"cnn_merp.chain": ""},
)

COSIM = rooms(
    {"engines.programs": ""},
    {"engines": "engines.programs"},
    {"block": "engines engines.programs"},
    {"board": "engines engines.programs"},
    {"phases": "engines", "phases.audit": "engines phases"},
    {"machines.training": "board phases phases.audit"},
    {"machines": "engines phases phases.audit machines.training"},
    {CNN_MERP: "machines", "synthesis": "engines engines.programs machines"},
    {f"{CNN_MERP}.phases": "engines phases"},
    {f"{CNN_MERP}.passes": f"phases phases.audit {CNN_MERP}.phases"},
    {
        f"{CNN_MERP}.training": f"engines board phases phases.audit machines.training "
        f"{CNN_MERP}.passes {CNN_MERP}.phases"
    },
    {
        f"{CNN_MERP}.at_once": f"engines phases phases.audit machines.training {CNN_MERP}.phases "
        f"{CNN_MERP}.training"
    },
    {f"{CNN_MERP}.pipeline": f"phases {CNN_MERP}.at_once {CNN_MERP}.phases {CNN_MERP}.training"},
    {
        f"{CNN_MERP}.chain": f"engines engines.programs phases machines.training "
        f"{CNN_MERP}.at_once {CNN_MERP}.phases {CNN_MERP}.training"
    },
    {FCNN: "engines machines phases phases.audit machines.training"},
    {f"{MAC_ARRAY}.phases": "engines phases"},
    {MAC_ARRAY: f"board machines phases phases.audit machines.training {MAC_ARRAY}.phases"},
)

COMMON = "common"
TOOLS = rooms(
    {"common": "", "common.command_line": "common", "cli": "common common.command_line"},
    dict.fromkeys(("doctor", "networks", "plan", "traffic", "train.datasets"), COMMON),
    dict.fromkeys(("fpga.bench", "fpga.bitstream", "fpga.layout"), COMMON),
    {"fpga.bitstream.resources": f"{COMMON} fpga.bitstream"},
    {"report": COMMON},
    {"comparison": f"{COMMON} fpga.bitstream report"},  # its page is made as the report's is
    {"comparison.cluster": f"{COMMON} report comparison"},  # its tables are a comparison's
    {"comparison.campaign": COMMON},
    {"comparison.sweep": f"{COMMON} fpga.bitstream report comparison comparison.campaign"},
    {"explore": COMMON},
    {"simulate": COMMON, "simulate.verify_float": COMMON},
    {"train.predict": f"{COMMON} simulate train.datasets"},
    {"train": f"{COMMON} train.datasets train.predict"},
    {"fpga.export": f"{COMMON} fpga.bitstream"},
    {"fpga.litex": COMMON},
    {"fpga.system": f"{COMMON} fpga.bitstream fpga.export fpga.layout fpga.litex"},
    {"machines": ""},  # halves of machines are loaded by name: no other room imports them
    {"machines.usual": f"{COMMON} fpga.bitstream fpga.export simulate train plan report"},
    dict.fromkeys(
        (CNN_MERP, MAC_ARRAY, f"{MAC_ARRAY}.export", FCNN),
        f"{COMMON} machines machines.usual explore plan simulate train train.datasets "
        "fpga.bitstream fpga.export fpga.layout fpga.litex",
    ),
    {f"{CNN_MERP}.plan": f"{COMMON} plan"},
    {f"{CNN_MERP}.tiles": f"{COMMON} machines simulate {CNN_MERP} {CNN_MERP}.plan"},
    {
        f"{CNN_MERP}.report": f"{COMMON} report {CNN_MERP}.plan",
        f"{MAC_ARRAY}.report": f"{COMMON} report",
    },
    {f"{CNN_MERP}.at_once": f"{COMMON} machines.usual fpga.export train"},
    {f"{CNN_MERP}.chain": f"{COMMON} machines fpga.export train {CNN_MERP}.at_once"},
    {f"{CNN_MERP}.pipeline": f"{COMMON} machines explore fpga.export train {CNN_MERP}.at_once"},
)

TREES = dict(zip(ORDER, (MODELS, HDL, TESTBENCHES, COSIM, TOOLS), strict=True))


def room_of(module: str) -> tuple[str, str]:
    """Tree and room of a module's name, such as ``merp.hdl.cnn_merp.phases.forward``.

    The room of a tree's own ``__init__.py`` is "": it is a door plate and may be named anywhere.
    """
    tree, *parts = module.split(".")[1:]
    while len(parts) > 1 and not (ROOT / tree).joinpath(*parts).is_dir():
        parts.pop()
    return tree, ".".join(parts)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("merp", *(part for part in parts if part != "__init__")))


def imported(source: str) -> Iterator[str]:
    """The modules of the package that a text imports, whether at its head or in a function."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "an import is absolute"
            names = [f"{node.module}.{name.name}" for name in node.names]
            if not (ROOT / Path(*node.module.split(".")[1:])).is_dir():
                names = [node.module]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        for name in names:
            if name.split(".")[0] == "merp" and "." in name and name.split(".")[1] in ORDER:
                yield name


def offences(module: str, source: str) -> list[str]:
    tree, room = room_of(module)
    found = []
    for name in imported(source):
        other_tree, other = room_of(name)
        if other_tree != tree:
            allowed = ORDER.index(other_tree) < ORDER.index(tree)
            if tree == "hdl" and other:
                allowed &= other == "base" or other.endswith(".params")
        else:
            allowed = other in ("", room) or other in TREES[tree].get(room, ())
        if not allowed:
            found.append(name)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left_and_down(path: Path) -> None:
    assert offences(module_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("merp.hdl.arithmetic.fp_mul", "from merp.models.arithmetic.fp_mul import fp_mul"),
        ("merp.hdl.arithmetic.fp_mul", "def late():\n    import merp.cosim.engines.job"),
        ("merp.hdl.base.delay", "from merp.hdl.streams.serializer import serializer"),
        ("merp.hdl.base.delay", "from merp.hdl.streams import serializer"),
        ("merp.hdl.behavioural.scaled_sum", "from merp.hdl.base.signals import bits"),
        ("merp.hdl.cnn_merp.upsampling.unpool", "import merp.hdl.cnn_merp.sequencer.ring_advance"),
        ("merp.hdl.cnn_merp.ports.maps", "from merp.hdl.cnn_merp.phases.delta import delta"),
        ("merp.models.base.shape", "from merp.models.machines.cnn_merp.params.row import steps"),
        ("merp.tools.train.data", "from merp.tools.fpga.export.export_verb import run"),
        ("merp.tools.a_new_room.a_file", "from merp.tools.common.table import table"),
    ],
)
def test_an_offence_is_seen(module: str, source: str) -> None:
    assert len(offences(module, source)) == 1


def test_what_is_allowed_is_no_offence() -> None:
    source = "import numpy\nfrom merp import tools\nfrom merp.models.base import bits"
    assert offences("merp.hdl.cnn_merp.phases.forward", source.replace("tools", "models")) == []
    assert offences("merp.tools.common.data", source) == []


@pytest.mark.parametrize("tree", ORDER)
def test_rooms_are_declared_once_and_make_no_circle(tree: str) -> None:
    modules = [module_of(path) for path in FILES if path.name != "__init__.py"]
    standing = {room for other, room in map(room_of, modules) if other == tree}
    assert set(TREES[tree]) == standing
    order = list(TopologicalSorter(TREES[tree]).static_order())  # raises CycleError
    assert set(order) == standing, "a rule names a room that is not there"


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.name == "__init__.py"],
    ids=lambda path: str(path.parent.relative_to(ROOT)),
)
def test_a_door_plate_is_one_line(path: Path) -> None:
    (line,) = path.read_text().splitlines()
    assert len(ast.parse(line).body) == 1
    assert ast.get_docstring(ast.parse(line))


def test_every_folder_has_its_door_plate() -> None:
    assert [path for path in FILES if not (path.parent / "__init__.py").exists()] == []
