"""The register file in every cycle against a model of its page: settings, errors, interrupt."""

from random import Random

import pytest

from block_bench import Sample
from merp.models.base.register_map import (
    CONTROL,
    ERRORS,
    FLAGS,
    STATUS,
    WORD_MAX,
)
from small_registers import small_file, small_map

MAP = small_map()
PORTS = ("a_config_size", "a_config_on", "b_config_word")
ABORT = 1 << CONTROL.index("abort")
BITS = ("illegal_value", "write_refused", "start_refused")


class Model:
    """The file; ``kept`` are the registers that are written, by name."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.kept = {name: MAP[name].reset for name in (*PORTS, "interrupt_enable")}
        self.abort()

    def abort(self) -> None:
        """What is of a run goes, what software wrote stays."""
        self.error = self.pending = self.start = self.done = 0

    def outputs(self, now: dict[str, int]) -> dict[str, int]:
        """In the cycle with these inputs."""
        flags = sum(now[f"status_{name}"] << i for i, name in enumerate(FLAGS))
        flags |= now["runs_aborting"] << STATUS.index("aborting")
        words = self.kept | {"status": flags, "error": self.error, "interrupt": self.pending}
        for name in ("total", "map_in"):
            value = now[f"status_{name}"]
            words |= {f"status_{name}": value & WORD_MAX, f"status_{name}_high": value >> 32}
        shown = MAP.registers[now["read_index"]]
        return {
            "read_word": words.get(shown.name, shown.reset),
            "runs_start": self.start,
            "runs_abort": self.aborts(now),
            "interrupt": self.pending & self.kept["interrupt_enable"],
            **{f"settings_{name}": self.kept[name] for name in PORTS},
        }

    def aborts(self, now: dict[str, int]) -> int:
        """Whether the write of this cycle is an abort."""
        written = now["write_enable"] and now["write_index"] == MAP.index("control")
        return int(written and now["write_strobe"] & 1 and now["write_data"] & ABORT > 0)

    def clock(self, now: dict[str, int]) -> None:
        """At the edge that ends it."""
        illegal, refused, no_start = (1 << ERRORS.index(name) for name in BITS)
        name = MAP.registers[now["write_index"]].name
        data, strobe = now["write_data"], now["write_strobe"] * now["write_enable"]
        locked = self.start or now["status_busy"] or now["runs_aborting"]
        errors, start = 0, 0
        ended = now["status_done"] and not self.done and not now["runs_aborting"]
        if name in self.kept:
            mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)
            merged = self.kept[name] & ~mask | data & mask
            legal = MAP[name].least <= merged <= MAP[name].most
            if locked and name in PORTS:
                errors |= refused if strobe else 0
            elif legal:
                self.kept[name] = merged if strobe else self.kept[name]
            else:
                errors |= illegal
        if strobe & 1:
            if name == "control" and data & 1:
                start = int(not locked and not self.error)
                errors |= 0 if start else no_start
            if name == "error":
                self.error &= ~data
            if name == "interrupt" and data & 1:
                self.pending = 0
        self.error |= errors
        self.start, self.done = start, now["status_done"]
        self.pending |= int(ended)
        if self.aborts(now):
            self.abort()
        if now["rst"]:
            self.reset()


@pytest.mark.parametrize("seed", range(3))
def test_every_cycle_is_that_of_the_model(seed: int) -> None:
    rng = Random(seed)
    model = Model()
    rows: list[tuple[dict[str, int], dict[str, int]]] = []
    last = MAP.first_counter

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        # Counters are read only: the bus does not let a write through.
        now = {
            "rst": int(cycle < 2 or rng.random() < 0.01),
            "write_enable": int(rng.random() < 0.6),
            "write_index": rng.randrange(last),
            "write_data": rng.choice((0, 1, 7, rng.randrange(12), rng.getrandbits(32))),
            "write_strobe": rng.choice((15, 15, 1, 14, rng.randrange(16))),
            "read_index": rng.randrange(len(MAP.registers)),
            "runs_aborting": int(rng.random() < 0.1),
            "status_busy": int(cycle // 50 % 2 and rng.random() < 0.5),
            "status_done": int(rng.random() < 0.3),
            "status_framing_error": int(rng.random() < 0.3),
            "status_total": rng.getrandbits(40),
            "status_map_in": rng.getrandbits(40),
        }
        if rng.random() < 0.2:
            data = rng.choice((1, 1, 1, ABORT, 1 | ABORT))
            now |= {"write_index": MAP.index("control"), "write_data": data}
        if rng.random() < 0.2:
            now |= {"write_index": MAP.index("error"), "write_data": 7}
        rows.append((now, model.outputs(now)))
        model.clock(now)
        return now

    trace = small_file(MAP).run(drive, 700)
    for cycle, (_, told) in enumerate(rows[2:], 2):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"
    assert sum(trace.column("runs_start")) > 5
    assert sum(trace.column("runs_abort")) > 5
