from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from myhdl import (
    ConcatSignal,
    Constant,
    ResetSignal,
    Signal,
    always,
    always_comb,
    always_seq,
    block,
    intbv,
    modbv,
)

from merp.cosim.replay import lint_verilog, replay
from merp.hdl.bundles import Stream, bits, flag
from merp.hdl.convert import ExportError, convert
from merp.hdl.entity import entity
from merp.testbenches.trace import flatten, run_block


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
def adder(a: Any, b: Any, y: Any) -> Any:
    """Add two words, modulo their width."""

    @always_comb
    def total() -> None:
        y.next = (a + b) % 65536

    return total


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
def concats(clk: Any, a: Any, b: Any, s: Any, one: Any, y: Any) -> Any:
    """Concatenations as actuals, with constants, signed parts and single bits."""
    word = ConcatSignal(a, "01", b(2), s, ConcatSignal(True, b(4, 2)), one)
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
    for i in range(3):
        store = register(clk, words[i], words[i + 1])
        stores.append(store)

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
    upper = d(16, 8)(8, 4)
    inside = register(clk, lower, half)

    @always_comb
    def widen() -> None:
        q.next = half ^ upper

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
def choices(delta: Any, alpha: Any, echo: Any, bravo: Any, charlie: Any, y: Any) -> Any:
    """A process with many inputs and no clock; an input that has no driver but a value."""
    foxtrot = bits(8, 0x5A)

    @always_comb
    def choose() -> None:
        if alpha == bravo:
            y.next = charlie
        elif delta > echo:
            y.next = bravo
        else:
            y.next = foxtrot

    return choose


def _weight(word: Any) -> Any:
    total = intbv(0)[4:]
    for i in range(8):
        if word[i]:
            total[:] = total + 1
    return total


@entity
def counts(clk: Any, d: Any, ones: Any, first: Any) -> Any:
    """A function, and a loop that is left early."""

    @always(clk.posedge)
    def weigh() -> None:
        ones.next = _weight(d)

    @always(clk.posedge)
    def find() -> None:
        first.next = 8
        for i in range(8):
            if d[i]:
                first.next = i
                break

    return weigh, find


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
    "slices": (
        slices,
        lambda: dict(clk=_clk(), d=bits(16), s=_signed(8), q=bits(16), b=flag(), n=flag(1)),
        ("d", "s"),
    ),
    "concats": (
        concats,
        lambda: dict(clk=_clk(), a=bits(5), b=bits(6), s=_signed(4, -3), one=bits(1), y=bits(16)),
        ("a", "b", "s", "one"),
    ),
    "aliases": (aliases, lambda: dict(clk=_clk(), d=bits(16), q=bits(16), r=bits(16)), ("d",)),
    "tables": (
        tables,
        lambda: dict(clk=_clk(), d=bits(2)) | {f"q{i}": bits(4) for i in range(4)},
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
    "choices": (
        choices,
        lambda: {name: bits(8) for name in ("delta", "alpha", "echo", "bravo", "charlie", "y")},
        ("delta", "alpha", "echo", "bravo", "charlie"),
    ),
    "counts": (counts, lambda: dict(clk=_clk(), d=bits(8), ones=bits(4), first=bits(4)), ("d",)),
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


def test_a_structural_top_needs_no_copies_of_its_ports(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["direct"]
    text = convert(function, make(), "vhdl", tmp_path).files[-1].read_text()
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
    function, make, _ = DESIGNS["slices"]
    args = make()
    before = digest(tmp_path / "a")
    convert(function, args, "verilog", tmp_path / "v")
    assert digest(tmp_path / "b") == before
    for signal in flatten(args).values():
        assert (signal._name, signal._driven, signal._read) == (None, None, False)


@pytest.mark.parametrize(
    ("hdl", "drivers"),
    [("vhdl", ['quiet <= x"0007";']), ("verilog", ["assign quiet = 16'h7;"])],
)
def test_a_signal_without_a_driver_gets_its_value(
    hdl: Any, drivers: list[str], tmp_path: Path
) -> None:
    function, make, _ = DESIGNS["aliases"]
    text = convert(function, make(), hdl, tmp_path).files[-1].read_text()
    assert all(driver in text for driver in drivers)


def test_verilog_initialises_registers_and_nothing_else(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["choices"]
    text = convert(function, make(), "verilog", tmp_path).files[-1].read_text()
    assert "    output reg  [7:0] y\n" in text
    function, make, _ = DESIGNS["wrapping"]
    text = convert(function, make(), "verilog", tmp_path).files[-1].read_text()
    assert "reg  [7:0] angle = 8'hc8;" in text


def test_lists_name_their_elements_and_slices_stay_slices(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["indexed"]
    text = convert(function, make(), "vhdl", tmp_path).files[-1].read_text()
    assert "    stores_3 : entity work.register_2\n" in text
    function, make, _ = DESIGNS["slices"]
    text = convert(function, make(), "vhdl", tmp_path).files[-1].read_text()
    assert "middle" not in text


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
    assert "entity register_top is" in export.files[-1].read_text()
    with pytest.raises(ExportError, match="entity name process is a keyword"):
        convert(function, make(), "vhdl", tmp_path, name="process")
