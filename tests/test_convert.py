from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from myhdl import (
    ConcatSignal,
    Constant,
    ResetSignal,
    Signal,
    TristateSignal,
    always,
    always_comb,
    always_seq,
    block,
    enum,
    intbv,
    modbv,
)

from merp.cosim.replay import lint_verilog, replay
from merp.hdl.bundles import Stream, bits, flag
from merp.hdl.convert import Export, ExportError, convert
from merp.hdl.entity import entity
from merp.testbenches.trace import flatten, run_block

# --- three levels: leaves and a tree, a memory, a state machine, streams -------------------------


@dataclass(frozen=True)
class Sizes:
    """Parameters of the nested design."""

    k: int
    width: int
    depth: int


@entity
def leaf(clk: Any, a: Any, b: Any, y: Any, sizes: Sizes) -> Any:
    """Multiply two words and register the product."""
    width = sizes.width
    full = bits(2 * width)

    @always_comb
    def multiply() -> None:
        full.next = a * b

    @always(clk.posedge)
    def product() -> None:
        y.next = full[width:]

    return multiply, product


@entity
def adder(a: Any, b: Any, y: Any) -> Any:
    """Add two words, modulo their width."""

    @always_comb
    def total() -> None:
        y.next = (a + b) % 65536

    return total


@entity
def ram(clk: Any, write: Any, addr: Any, data: Any, y: Any, depth: int) -> Any:
    """Memory with registered read; a write shows one cycle later."""
    words = [bits(len(data), i % 3) for i in range(depth)]

    @always(clk.posedge)
    def access() -> None:
        if write:
            words[addr].next = data
        y.next = words[addr]

    return access


@entity
def unit(clk: Any, window: Any, kernel: Any, y: Any, sizes: Sizes) -> Any:
    """Sum of k*k products of the words of two vectors."""
    taps, w = sizes.k * sizes.k, sizes.width
    terms = [bits(w) for _ in range(taps)]
    sums = [terms[0]] + [bits(w) for _ in range(taps - 2)] + [y]
    grid = [
        [
            leaf(
                clk,
                window((r * sizes.k + c + 1) * w, (r * sizes.k + c) * w),
                kernel((r * sizes.k + c + 1) * w, (r * sizes.k + c) * w),
                terms[r * sizes.k + c],
                sizes,
            )
            for c in range(sizes.k)
        ]
        for r in range(sizes.k)
    ]
    tree = [adder(sums[i], terms[i + 1], sums[i + 1]) for i in range(taps - 1)]
    return grid, tree


@entity
def nested(clk: Any, rst: Any, sink: Stream, source: Stream, sizes: Sizes, units: int) -> Any:
    """Read a window, wait, and hand out the sum of the units."""
    t_state = enum("ST_TAKE", "ST_WAIT", "ST_GIVE")
    state = Signal(t_state.ST_TAKE)
    window = bits(sizes.k * sizes.k * sizes.width)
    addr = bits(2)
    accepted = flag()
    count = bits(2)
    kernels = [bits(len(window)) for _ in range(units)]
    rams = [ram(clk, accepted, addr, window, kernels[i], sizes.depth) for i in range(units)]
    sums = [bits(sizes.width) for _ in range(units)]
    computed = [unit(clk, window, kernels[i], sums[i], sizes) for i in range(units)]
    largest = units - 1

    @always_comb
    def handshake() -> None:
        accepted.next = state == t_state.ST_TAKE and sink.valid
        sink.ready.next = state == t_state.ST_TAKE
        source.valid.next = state == t_state.ST_GIVE

    @always_seq(clk.posedge, reset=rst)
    def control() -> None:
        if state == t_state.ST_TAKE:
            if sink.valid:
                window.next = sink.data
                addr.next = sink.data[2:]
                source.last.next = sink.last
                count.next = 0
                state.next = t_state.ST_WAIT
        elif state == t_state.ST_WAIT:
            source.data.next = sums[int(addr) % units]
            if count == 3:
                state.next = t_state.ST_GIVE
            else:
                count.next = count + 1
        else:
            if addr > largest:
                source.last.next = True
            if source.ready:
                state.next = t_state.ST_TAKE

    return rams, computed, handshake, control


def nested_args(k: int = 2, units: int = 2) -> dict[str, Any]:
    sizes = Sizes(k, 16, 4)
    return {
        "clk": Signal(bool(0)),
        "rst": ResetSignal(0, active=1, isasync=False),
        "sink": Stream(k * k * 16),
        "source": Stream(16),
        "sizes": sizes,
        "units": units,
    }


# --- one design per trap -------------------------------------------------------------------------


@entity
def invert(a: Any, y: Any) -> Any:
    """Invert all bits."""
    largest = (1 << len(a)) - 1

    @always_comb
    def flip() -> None:
        y.next = largest - a

    return flip


@entity
def negate(a: Any, y: Any) -> Any:
    """Invert a bit."""

    @always_comb
    def flip() -> None:
        y.next = not a

    return flip


@entity
def register(clk: Any, d: Any, q: Any) -> Any:
    """Delay a word by one cycle."""

    @always(clk.posedge)
    def store() -> None:
        q.next = d

    return store


@entity
def slices(clk: Any, d: Any, s: Any, q: Any, b: Any, n: Any) -> Any:
    """Slices of slices, of list elements, of signed words; single bits."""
    middle = d(12, 4)
    words = [bits(8) for _ in range(2)]
    nibbles = [bits(4) for _ in range(4)]
    first = register(clk, middle, words[0])
    second = register(clk, words[0], words[1])
    low = invert(words[1](4, 0), nibbles[0])
    high = invert(middle(6, 2), nibbles[1])
    top = invert(s(8, 4), nibbles[2])
    bottom = invert(s(4, 0)(4, 0), nibbles[3])
    bit = negate(words[0](7), b)
    inner = negate(middle(8, 4)(3), n)
    joined = ConcatSignal(nibbles[3], nibbles[2], nibbles[1], nibbles[0])

    @always_comb
    def result() -> None:
        q.next = joined

    return first, second, low, high, top, bottom, bit, inner, result


@entity
def concats(clk: Any, a: Any, b: Any, s: Any, y: Any) -> Any:
    """Concatenations as actuals, with constants, signed parts and single bits."""
    word = ConcatSignal(a, "01", b(2), s, True, b(4, 1))
    return register(clk, word, y)


@entity
def aliases(clk: Any, d: Any, q: Any, r: Any) -> Any:
    """One signal on two formals, a chain through a list, an unconnected and a constant input."""
    steps = [d] + [bits(16) for _ in range(3)]
    chain = [register(clk, steps[i], steps[i + 1]) for i in range(3)]
    doubled = adder(steps[3], steps[3], q)
    quiet = bits(16, 7)
    fixed = Constant(intbv(9)[16:])
    sum_of_constants = bits(16)
    constants = adder(quiet, fixed, sum_of_constants)
    total = adder(sum_of_constants, d, r)
    return chain, doubled, constants, total


@entity
def flags(clk: Any, d: Any, q: Any, mode: str, enabled: bool, table: tuple[int, ...]) -> Any:
    """Parameters that are not numbers; a ROM."""
    offset = 3 if mode == "odd" else 4

    @always(clk.posedge)
    def look_up() -> None:
        if enabled:
            q.next = table[int(d)]
        else:
            q.next = offset

    return look_up


@entity
def tables(clk: Any, d: Any, q0: Any, q1: Any, q2: Any, q3: Any) -> Any:
    """The same block with parameters of every kind."""
    one = flags(clk, d, q0, "odd", True, (3, 1, 4, 1))
    two = flags(clk, d, q1, "odd", False, (3, 1, 4, 1))
    three = flags(clk, d, q2, "even", False, (3, 1, 4, 1))
    four = flags(clk, d, q3, "even", True, (2, 7, 1, 8))
    return one, two, three, four


@entity
def starts(clk: Any, d: Any, q0: Any, q1: Any, q2: Any) -> Any:
    """The same register with three initial values of its output."""
    inner = bits(16, 0x1234)
    return (
        register(clk, d, q0),
        register(clk, d, inner),
        register(clk, inner, q1),
        register(clk, d, q2),
    )


@entity
def indexed(clk: Any, sel: Any, d: Any, q: Any) -> Any:
    """Instances drive the elements of a list that a process indexes."""
    words = [bits(16) for _ in range(4)]
    parts = [d(4 * i + 4, 4 * i) for i in range(4)]
    nibble = bits(4)
    stores = [register(clk, d, words[0])]
    stores += [register(clk, words[i], words[i + 1]) for i in range(3)]

    @always_comb
    def pick() -> None:
        q.next = words[sel] ^ nibble

    @always_comb
    def part() -> None:
        nibble.next = parts[sel]

    return stores, pick, part


@entity
def clashes(clk: Any, Count: Any, y: Any) -> Any:
    """Names that differ by case, are keywords, or equal those of processes and instances."""
    count = bits(8)
    signal = bits(8)
    out = [bits(8) for _ in range(2)]
    out_0 = bits(8)
    store = bits(8)
    resize = register(clk, Count, count)
    begin = register(clk, count, signal)
    y_num = register(clk, signal, out[0])
    process = register(clk, out[0], out[1])
    last = register(clk, out[1], out_0)

    @always(clk.posedge)
    def store_() -> None:
        store.next = out_0

    @always_comb
    def end() -> None:
        y.next = store

    return resize, begin, y_num, process, last, store_, end


@block
def _flat(clk: Any, d: Any, q: Any) -> Any:
    half = bits(8)
    lower = d(8, 0)
    inside = register(clk, lower, half)

    @always_comb
    def widen() -> None:
        q.next = half

    return inside, widen


@entity
def flattened(clk: Any, d: Any, q0: Any, q1: Any) -> Any:
    """Plain blocks inside an entity, with entities inside them."""
    pair = [_flat(clk, d, q0), _flat(clk, d, q1)]
    return pair


@entity
def wrapping(clk: Any, rst: Any, step: Any, position: Any, low: Any) -> Any:
    """Signed arithmetic, modular counters, synchronous reset to a value that is not zero."""
    angle = Signal(modbv(200)[8:])
    sign = bits(1)

    @always_seq(clk.posedge, reset=rst)
    def move() -> None:
        angle.next = angle + 77
        sign.next = angle[7]
        if position + step > 100:
            position.next = -100
        elif position + step < -100:
            position.next = 100
        else:
            position.next = position + step

    @always_comb
    def lowest() -> None:
        low.next = angle[4:] + sign

    return move, lowest


@entity
def direct(clk: Any, d: Any, source: Stream) -> Any:
    """A top without processes: its ports go straight into port maps."""
    pipe = bits(16)
    one = register(clk, d, pipe)
    two = register(clk, pipe, source.data)
    three = ready_gate(source.ready, source.valid)
    return one, two, three


@entity
def ready_gate(a: Any, y: Any) -> Any:
    """A wire."""

    @always_comb
    def copy() -> None:
        y.next = a

    return copy


def _clk() -> Any:
    return Signal(bool(0))


def _signed(width: int, value: int = 0) -> Any:
    half = 1 << (width - 1)
    return Signal(intbv(value, min=-half, max=half))


Design = tuple[Callable[..., Any], Callable[[], Mapping[str, Any]], tuple[str, ...]]

DESIGNS: dict[str, Design] = {
    "nested": (
        nested,
        nested_args,
        ("rst", "sink_data", "sink_valid", "sink_last", "source_ready"),
    ),
    "slices": (
        slices,
        lambda: dict(clk=_clk(), d=bits(16), s=_signed(8), q=bits(16), b=flag(), n=flag(1)),
        ("d", "s"),
    ),
    "concats": (
        concats,
        lambda: dict(clk=_clk(), a=bits(5), b=bits(6), s=_signed(4, -3), y=bits(16)),
        ("a", "b", "s"),
    ),
    "aliases": (aliases, lambda: dict(clk=_clk(), d=bits(16), q=bits(16), r=bits(16)), ("d",)),
    "tables": (
        tables,
        lambda: dict(clk=_clk(), d=bits(2)) | {f"q{i}": bits(4, i) for i in range(4)},
        ("d",),
    ),
    "starts": (
        starts,
        lambda: dict(clk=_clk(), d=bits(16), q0=bits(16), q1=bits(16, 5), q2=bits(16, 5)),
        ("d",),
    ),
    "indexed": (
        indexed,
        lambda: dict(clk=_clk(), sel=bits(2), d=bits(16), q=bits(16)),
        ("sel", "d"),
    ),
    "clashes": (clashes, lambda: dict(clk=_clk(), Count=bits(8), y=bits(8)), ("Count",)),
    "flattened": (
        flattened,
        lambda: dict(clk=_clk(), d=bits(16), q0=bits(8), q1=bits(8)),
        ("d",),
    ),
    "wrapping": (
        wrapping,
        lambda: dict(
            clk=_clk(),
            rst=ResetSignal(0, active=1, isasync=False),
            step=_signed(6),
            position=_signed(8, -7),
            low=bits(5),
        ),
        ("rst", "step"),
    ),
    "direct": (direct, lambda: dict(clk=_clk(), d=bits(16), source=Stream(16)), ("d",)),
}


@pytest.mark.ghdl
@pytest.mark.parametrize("name", DESIGNS)
def test_vhdl_has_the_bits_of_the_simulation(name: str, tmp_path: Path) -> None:
    function, make, inputs = DESIGNS[name]
    args = make()
    widths = {port: len(signal) or 1 for port, signal in flatten(args).items()}
    rng = random.Random(name)

    def drive(cycle: int, _seen: Any) -> dict[str, int]:
        values = {port: rng.getrandbits(widths[port]) for port in inputs}
        if "rst" in values:
            values["rst"] = int(cycle > 20 and rng.random() < 0.05)
        return values

    trace = run_block(function, args, inputs, drive, 200)
    assert replay(trace, tmp_path) == 200


@pytest.mark.verilator
@pytest.mark.parametrize("name", DESIGNS)
def test_verilog_passes_verilator(name: str, tmp_path: Path) -> None:
    function, make, _ = DESIGNS[name]
    lint_verilog(function, make(), tmp_path)


# --- structure -----------------------------------------------------------------------------------


def _top(export: Export) -> str:
    return export.files[-1].read_text(encoding="ascii")


def test_one_file_per_configuration_in_dependency_order(tmp_path: Path) -> None:
    export = convert(nested, nested_args(k=3, units=4), "vhdl", tmp_path)
    assert [file.name for file in export.files] == [
        "pck_myhdl_011.vhd", "ram.vhd", "leaf.vhd", "adder.vhd", "unit.vhd", "nested.vhd"
    ]  # fmt: skip
    assert export.instances == {"ram": 4, "leaf": 36, "adder": 32, "unit": 4, "nested": 1}
    assert export.top == "nested"
    assert set(export.outputs) == {"sink_ready", "source_data", "source_valid", "source_last"}
    assert "sink_data" in export.inputs
    assert sorted(tmp_path.iterdir()) == sorted(export.files)


def test_cost_follows_configurations_not_instances(tmp_path: Path) -> None:
    start = perf_counter()
    export = convert(nested, nested_args(k=5, units=48), "vhdl", tmp_path)
    assert export.instances["leaf"] == 1200
    assert perf_counter() - start < 10


def test_names_come_from_the_source(tmp_path: Path) -> None:
    text = (tmp_path / "unit.vhd").as_posix()
    convert(nested, nested_args(), "vhdl", tmp_path)
    unit_text = Path(text).read_text()
    assert "grid_1_0 : entity work.leaf" in unit_text
    assert "a   => window(47 downto 32)," in unit_text
    assert "signal terms_3 : unsigned(15 downto 0)" in unit_text
    top = (tmp_path / "nested.vhd").read_text()
    assert "computed_1 : entity work.unit" in top
    assert "type t_state is (ST_TAKE, ST_WAIT, ST_GIVE)" in top


def test_a_structural_top_needs_no_copies_of_its_ports(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["direct"]
    text = _top(convert(function, make(), "vhdl", tmp_path))
    body = text[text.index("architecture") :]
    assert body == (
        "architecture rtl of direct is\n\n"
        "    signal pipe : unsigned(15 downto 0) := (others => '0');\n\n"
        "begin\n\n"
        "    one : entity work.register_2\n"
        "        port map (\n"
        "            clk => clk,\n"
        "            d   => unsigned(d),\n"
        "            q   => pipe\n"
        "        );\n\n"
        "    two : entity work.register_2\n"
        "        port map (\n"
        "            clk                 => clk,\n"
        "            d                   => pipe,\n"
        "            std_logic_vector(q) => source_data\n"
        "        );\n\n"
        "    three : entity work.ready_gate\n"
        "        port map (\n"
        "            a => source_ready,\n"
        "            y => source_valid\n"
        "        );\n\n"
        "end architecture rtl;\n"
    )


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
def test_top_ports_are_plain_vectors_and_headers_have_no_date(hdl: Any, tmp_path: Path) -> None:
    export = convert(nested, nested_args(), hdl, tmp_path)
    for file in export.files[1 if hdl == "vhdl" else 0 :]:
        lines = file.read_text().splitlines()
        assert "SPDX-License-Identifier: Apache-2.0" in lines[0]
        assert not re.search(r"20\d\d-|\d\d:\d\d:\d\d", "\n".join(lines))
        assert str(tmp_path) not in file.read_text()
    top = _top(export)
    ports = top[: top.index(");")]
    assert "unsigned" not in ports.replace("std_logic_unsigned", "")
    assert "sizes = Sizes(k=2, width=16, depth=4)" in top
    assert "Read a window, wait, and hand out the sum of the units." in top


_DIGEST = """
import hashlib, importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("designs", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["designs"] = module
spec.loader.exec_module(module)
print(module.digest(Path(sys.argv[2])))
"""


def digest(folder: Path) -> str:
    """Digest of all designs in both languages; run in processes of their own."""
    total = hashlib.sha256()
    for name, (function, make, _) in DESIGNS.items():
        for hdl in ("vhdl", "verilog"):
            for file in convert(function, make(), hdl, folder / hdl / name).files:
                total.update(file.name.encode() + file.read_bytes())
    return total.hexdigest()


def test_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    digests = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", _DIGEST, __file__, str(tmp_path / seed)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_same_bytes_in_one_process_and_signals_untouched(tmp_path: Path) -> None:
    args = nested_args()
    before = digest(tmp_path / "a")
    convert(nested, args, "verilog", tmp_path / "v")
    assert digest(tmp_path / "b") == before
    for signal in flatten(args).values():
        assert (signal._name, signal._driven, signal._read) == (None, None, False)


def test_variants_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["tables"]
    export = convert(function, make(), "vhdl", tmp_path)
    assert list(export.instances) == [
        "flags_modeodd_enabled",
        "flags_modeodd",
        "flags_modeeven",
        "flags_modeeven_enabled",
        "tables",
    ]


def test_output_initial_values_make_configurations(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["starts"]
    export = convert(function, make(), "vhdl", tmp_path)
    assert sorted(export.instances.values()) == [1, 1, 1, 2]


def test_the_top_may_have_another_name(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["direct"]
    export = convert(function, make(), "vhdl", tmp_path, name="register_top")
    assert export.top == "register_top"
    assert export.files[-1].name == "register_top.vhd"
    assert "entity register_top is" in _top(export)
    with pytest.raises(ExportError, match="entity name process is a keyword"):
        convert(function, make(), "vhdl", tmp_path, name="process")


# --- what cannot be exported ----------------------------------------------------------------------


@entity
def takes_list(clk: Any, words: Any, q: Any) -> Any:
    """A list as a port."""
    return register(clk, words[0], q)


@entity
def two_drivers(clk: Any, d: Any, q: Any) -> Any:
    """Two instances drive one signal."""
    return register(clk, d, q), register(clk, d, q)


@entity
def process_and_instance(clk: Any, d: Any, q: Any) -> Any:
    """A process and an instance drive one signal."""
    inner = register(clk, d, q)

    @always(clk.posedge)
    def store() -> None:
        q.next = d

    return inner, store


@entity
def drives_slice(clk: Any, d: Any, q: Any) -> Any:
    """An output goes to a slice."""
    return register(clk, d, q(8, 0))


@entity
def keyword_port(clk: Any, d: Any, out: Any) -> Any:
    """A keyword as a port."""
    return register(clk, d, out)


@entity
def case_port(clk: Any, d: Any, D: Any) -> Any:
    """Ports that differ by case."""
    return register(clk, d, D)


@entity
def forgets(clk: Any, d: Any, q: Any) -> Any:
    """Returns nothing."""
    register(clk, d, q)
    return ()


@entity
def keyword_variable(clk: Any, d: Any, q: Any) -> Any:
    """A keyword as a variable of a process."""

    @always(clk.posedge)
    def store() -> None:
        signal = intbv(0)[8:]
        signal[:] = d
        q.next = signal

    return store


@entity
def umlaut(clk: Any, d: Any, q: Any) -> Any:
    """Über."""
    return register(clk, d, q)


def _words(width: int = 8) -> dict[str, Any]:
    return {"clk": _clk(), "d": bits(width), "q": bits(width)}


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (takes_list, {"clk": _clk(), "words": [bits(8)], "q": bits(8)}, "words is a list"),
        (two_drivers, _words(), "output q of register_1 drives a signal that has another driver"),
        (process_and_instance, _words(), "another driver"),
        (drives_slice, _words(16) | {"d": bits(8)}, "must go to a whole signal"),
        (keyword_port, {"clk": _clk(), "d": bits(8), "out": bits(8)}, "out is a keyword"),
        (case_port, {"clk": _clk(), "d": bits(8), "D": bits(8)}, "differs from another by case"),
        (forgets, _words(), "no instances"),
        (keyword_variable, _words(), "variable signal is a keyword"),
        (umlaut, _words(), "must be ASCII"),
        (register, _words() | {"d": Signal(0)}, "fixed number of bits"),
        (register, _words() | {"d": Signal(enum("A1", "B1").A1)}, "fixed number of bits"),
        (register, _words() | {"d": TristateSignal(intbv(0)[8:])}, "tristate"),
        (flags.func, _words(), "not a block"),
        (
            flags,
            _words() | {"mode": object(), "enabled": True, "table": ()},
            "parameter mode is a object",
        ),
    ],
)
def test_says_what_cannot_be_exported(
    function: Any, args: Any, message: str, hdl: Any, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=message):
        convert(function, args, hdl, tmp_path)
    assert list(tmp_path.iterdir()) == []
