"""The registers of an AXI shell: random accesses against the model, and the VHDL against MyHDL."""

from random import Random

import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample
from marks import rows_in_full
from merp.cosim.engines.axi_engine import fuzz_registers
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.hdl.axi.axi_lite import SLVERR, AxiLite, RegisterRead, RegisterWrite, axi_lite
from merp.hdl.axi.setting_register import SettingWrite, setting_register
from merp.hdl.base.signals import bits, flag
from merp.models.base.register_map import WORD_MAX, RegisterMap
from merp.testbenches.cnn_merp.random_layers import ELABORATIONS
from small_registers import small_file, small_map

WORDS = 600
SMALL = ELABORATIONS[4]  # one CU of 3 x 3
KINDS = {
    "read", "read of nothing", "write", "write to nothing", "write without bytes", "start", "abort",
    "illegal_value", "write_refused", "start_refused",
}  # fmt: skip


def fuzz(accesses: int, seed: int) -> None:
    found = fuzz_registers(forward_top(SMALL), accesses, seed)
    assert found["faults"] == []
    assert found["answered"] >= accesses
    assert found["seen"].keys() == KINDS


@pytest.mark.ghdl
def test_random_accesses() -> None:
    fuzz(500, 0)


@pytest.mark.ghdl
@pytest.mark.full
def test_ten_thousand_random_accesses() -> None:
    fuzz(10_000, 1)


def setting_trace(least: int, most: int) -> Recorded:
    """Random writes into a setting, each compared with what a register keeps by its page."""
    width = most.bit_length() + 1  # the port may be wider
    rng = Random(most)
    edges = [value & WORD_MAX for value in (least - 1, least, most, most + 1)]

    def drive(cycle: int, seen: dict[str, int]) -> dict[str, int]:
        legal = rng.randint(least, most)
        return {
            "rst": int(cycle < 2 or rng.random() < 0.02),
            "write_selected": int(rng.random() < 0.8),
            "write_locked": int(rng.random() < 0.2),
            "write_data": rng.choice([*edges, legal, legal, rng.getrandbits(32)]),
            "write_strobe": rng.choice((15, 15, rng.getrandbits(4))),
        }

    bench = BlockBench(
        setting_register, "clk rst illegal", write=SettingWrite(flag(), flag(), bits(32), bits(4)),
        value=bits(width), word=bits(32), least=least, most=most,
    )  # fmt: skip
    trace = bench.run(drive, 300)
    columns = {port.name: trace.column(port.name) for port in trace.ports}
    value = least
    for t in range(2, 300):
        now = {name: column[t] for name, column in columns.items()}
        assert now["value"] == now["word"] == value
        mask = sum(0xFF << 8 * i for i in range(4) if now["write_strobe"] >> i & 1)
        merged = value & ~mask | now["write_data"] & mask
        legal = least <= merged <= most
        assert now["illegal"] == int(now["write_selected"] and not legal)
        if now["write_selected"] and legal and not now["write_locked"]:
            value = merged
        if now["rst"]:
            value = least
    return trace


RANGES = ((0, 0), (3, 200), (0, WORD_MAX))
MORE_RANGES = ((0, 1), (1, 1), (1, 6), (1, 2**31 - 1), (5, WORD_MAX - 1), (7, WORD_MAX))


@pytest.mark.parametrize(("least", "most"), [*RANGES, *MORE_RANGES])
def test_a_setting_keeps_what_is_legal(least: int, most: int) -> None:
    setting_trace(least, most)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize(("least", "most"), [*RANGES, *rows_in_full(*MORE_RANGES)])
def test_a_setting_in_vhdl_is_that_of_myhdl(least: int, most: int, replays: Replays) -> None:
    replays(setting_trace(least, most))


def lite_traffic(seed: int, patience: float) -> Drive:
    """Random traffic on the bus, which begins with a reset; the file answers with its index."""
    rng = Random(seed)
    held: dict[str, int] = {}

    def drive(cycle: int, seen: dict[str, int]) -> dict[str, int]:
        for channel, fields in (
            ("aw", ("awaddr",)),
            ("w", ("wdata", "wstrb")),
            ("ar", ("araddr",)),
        ):
            valid = f"s_axi_{channel}valid"
            if cycle < 2 or not held.get(valid) or seen[f"s_axi_{channel}ready"]:
                held[valid] = int(rng.random() < patience)
                for field in fields:
                    random = rng.getrandbits(4 if field == "wstrb" else 12)
                    edge = 4 * rng.choice((WORDS - 1, WORDS))
                    held[f"s_axi_{field}"] = edge if field == "araddr" and random < 999 else random
        held["s_axi_bready"], held["s_axi_rready"] = (int(rng.random() < patience) for _ in "br")
        held["read_word"] = seen.get("read_index", 0) + 5
        return {**held, "rst": int(cycle < 1)}

    return drive


LITE = ("awaddr", "awvalid", "wdata", "wstrb", "wvalid", "bready", "araddr", "arvalid", "rready")


BENCH = BlockBench(
    axi_lite, "clk rst", s_axi=AxiLite(), write=RegisterWrite(), read=RegisterRead(), words=WORDS,
    first_writable=4, last_writable=500,
)  # fmt: skip


def lite_trace(cycles: int, patience: float) -> Recorded:
    return BENCH.run(lite_traffic(cycles, patience), cycles)


def test_after_a_reset_no_access_is_under_way() -> None:
    payload = {
        "s_axi_rvalid": "s_axi_rdata s_axi_rresp read_index",
        "write_enable": "write_index write_data write_strobe",
        "s_axi_bvalid": "s_axi_bresp",
    }

    def session(number: int) -> Drive:
        return lite_traffic(number, (0.7, 0.4)[number])

    BENCH.as_new_after_reset(session, range(1, 40), 30, payload=payload)


def test_no_access_is_taken_in_a_reset() -> None:
    """Who comes out of a reset before the bus does waits, and loses nothing."""

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        return dict.fromkeys((f"s_axi_{name}" for name in LITE), 1) | {"rst": int(cycle < 3)}

    trace = BENCH.run(drive, 8)
    for channel in ("aw", "w", "ar"):
        assert trace.column(f"s_axi_{channel}ready")[:5] == [0, 0, 0, 1, 0]
    for channel in ("b", "r"):
        assert trace.column(f"s_axi_{channel}valid")[:6] == [0, 0, 0, 0, 0, 1]


@pytest.mark.ghdl
def test_the_bus_in_vhdl_is_that_of_myhdl(replays: Replays) -> None:
    replays(lite_trace(600, 0.6))


def test_the_bus_answers_what_the_file_has() -> None:
    trace = lite_trace(600, 0.6)
    valid, response, index, taken = (
        trace.column(name) for name in ("s_axi_rvalid", "s_axi_rresp", "read_index", "s_axi_rready")
    )
    begins = [t for t in range(3, 600) if valid[t] and (not valid[t - 1] or taken[t - 1])]
    assert {index[t - 1] for t in begins} >= {WORDS - 1, WORDS}
    assert all((response[t] == SLVERR) == (index[t - 1] >= WORDS) for t in begins)


def test_a_read_and_a_write_in_two_cycles() -> None:
    trace = lite_trace(401, 2.0)
    responses = {name: sum(trace.column(f"s_axi_{name}valid")) for name in "br"}
    assert responses == {"b": 199, "r": 199}
    assert set(trace.column("s_axi_bresp")) == {0, SLVERR}


QUIET = {
    "rst": 0, "runs_aborting": 0, "write_enable": 0, "write_index": 0, "write_data": 0,
    "write_strobe": 15, "read_index": 0, "status_busy": 0, "status_done": 0,
    "status_framing_error": 0, "status_total": 0, "status_map_in": 0,
}  # fmt: skip


def writing(registers: RegisterMap, name: str, data: int) -> dict[str, int]:
    return QUIET | {"write_enable": 1, "write_index": registers.index(name), "write_data": data}


def test_a_pending_interrupt_does_not_outlive_a_reset() -> None:
    registers = small_map()
    enable = writing(registers, "interrupt_enable", 1)
    script = [QUIET | {"rst": 1}, enable, QUIET | {"status_done": 1}, QUIET, QUIET]
    script += [QUIET | {"rst": 1, "status_done": 1}, enable, QUIET]
    script += [QUIET | {"read_index": registers.index("interrupt")}] * 2
    trace = small_file(registers).run(script)
    assert trace.column("interrupt") == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]
    assert trace.column("read_word")[-1] == 0


def test_after_a_reset_the_register_file_is_as_new() -> None:
    registers = small_map()
    places = [registers.index(name) for name in ("error", "interrupt", "interrupt_enable")]

    def session(number: int) -> Drive:
        rng = Random(number)
        script = [
            writing(registers, "control", 1) | {"rst": 1, "status_done": 1},
            QUIET | {"status_done": 1},  # as if a run had ended: a bit of its own
            writing(registers, "interrupt_enable", 1),
        ]

        def drive(cycle: int, seen: Sample) -> dict[str, int]:
            if cycle < len(script):
                return script[cycle]
            values = QUIET | {
                "write_enable": int(rng.random() < 0.5),
                "write_index": rng.randrange(registers.first_writable, registers.first_counter),
                "write_data": rng.choice((0, 1, 2, 7, 10, rng.getrandbits(32))),
                "status_busy": int(rng.random() < 0.1),
                "status_done": int(rng.random() < 0.3),
            }
            reset_before = number and cycle < 20
            if reset_before:  # nothing is written: all that is read was left by the reset
                values |= {"write_enable": 0, "status_done": 0}
            return values | {"read_index": rng.choice(places)}

        return drive

    small_file(registers).as_new_after_reset(session, range(1, 40), 60)


@pytest.mark.ghdl
def test_the_register_file_in_vhdl_is_that_of_myhdl(replays: Replays) -> None:
    registers = small_map()
    rng = Random(0)
    script: list[tuple[str, int]] = []

    def drive(cycle: int, seen: dict[str, int]) -> dict[str, int]:
        if not script and rng.random() < 0.1:
            # A start that is taken, and a write while it is on its way.
            script.extend((("error", 7), ("control", 1), ("a_config_size", rng.randint(1, 9))))
        place = rng.randrange(registers.first_writable, registers.first_counter)
        data = rng.choice((0, 1, 2, 7, 10, rng.getrandbits(32)))
        scripted = bool(script)
        if scripted:
            name, data = script.pop(0)
            place = registers.index(name)
        return {
            "rst": int(cycle < 2),
            "runs_aborting": int(rng.random() < 0.1),
            "write_enable": int(scripted or (cycle > 2 and rng.random() < 0.5)),
            "write_index": place,
            "write_data": data,
            "write_strobe": 15 if scripted else rng.choice((15, rng.getrandbits(4))),
            "read_index": rng.randrange(len(registers.registers) + 3),
            "status_busy": int(rng.random() < 0.1),
            "status_done": int(rng.random() < 0.2),
            "status_framing_error": int(rng.random() < 0.5),
            "status_total": rng.getrandbits(40),
            "status_map_in": rng.getrandbits(40),
        }

    trace = small_file(registers).run(drive, 500)
    starts = trace.column("runs_start")
    assert {0, 1} == set(starts) == set(trace.column("interrupt"))
    size = trace.column("settings_a_config_size")
    locked = [t for t in range(3, 499) if starts[t] or trace.column("status_busy")[t]]
    assert all(size[t] == size[t + 1] for t in locked)
    replays(trace)


def test_the_interrupt_is_enabled_during_a_run_but_no_setting_changes() -> None:
    registers = small_map()
    busy = {"status_busy": 1}
    steps = [
        QUIET | {"rst": 1},
        QUIET | busy,
        writing(registers, "a_config_size", 5) | busy,
        writing(registers, "interrupt_enable", 1) | busy,
        QUIET | busy,
        QUIET | {"status_done": 1},
        QUIET | {"status_done": 1},
        QUIET | {"status_done": 1},
    ]
    trace = small_file(registers).run(steps)
    assert set(trace.column("settings_a_config_size")[1:]) == {1}
    assert trace.column("interrupt")[-1] == 1
