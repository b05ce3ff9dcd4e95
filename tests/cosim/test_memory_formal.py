"""Rules of AXI4 that the blocks of a memory interface keep: proofs, and proofs that must fail."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from movers import mover_commands, mover_state

from merp.cosim.block.formal import Claim, Proof, prove
from merp.hdl.base.signals import Stream, flag
from merp.hdl.memory.address_channel import address_channel
from merp.hdl.memory.axi4 import AddressChannel, Axi4
from merp.hdl.memory.legaliser import legaliser
from merp.hdl.memory.mover_ports import ReadChannels, WriteChannels
from merp.hdl.memory.reader import reader
from merp.hdl.memory.requests import Bursts, NumberedRequests, Runs
from merp.hdl.memory.writer import writer
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from needed_tools import needs

pytestmark = needs("yosys", "z3")
Plant = tuple[str, str]

PAGES = MemoryPort(data_bits=512)
"""Its longest burst, 64 beats of 64 bytes, fills a page of 4 KiB."""

SHORT = MemoryPort(data_bits=64, burst_beats=4)
"""Its bursts are short, so few cycles fill a FIFO."""


def flags(*names: str) -> dict[str, Any]:
    return {name: flag() for name in names}


def of_legaliser() -> tuple[Proof, list[Plant]]:
    """No burst crosses 4 KiB, none is too long, and each stays as it is until it is taken."""
    mover = Mover(port=PAGES, word_bits=64)
    args = flags("clk", "rst") | {"runs": Runs(mover), "bursts": Bursts(mover), "mover": mover}
    fields = tuple(f"bursts_{name}" for name in ("address", "length", "first", "final", "last"))
    runs = tuple(f"runs_{name}" for name in ("address", "length", "last"))
    proof = Proof(
        legaliser,
        args,
        [Claim("bursts_valid", "bursts_ready", fields)],
        given=[Claim("runs_valid", "runs_ready", runs)],
        assumed=["{1'b0, runs_address} + {1'b0, runs_length} < 30'h20000000"],
        rules=["!bursts_valid || {1'b0, bursts_address[5:0]} + {1'b0, bursts_length} <= 7'd63"],
        invariants=["!held || at <= end_1"],
        depth=6,
    )
    return proof, [("at[25:6] == end_1[25:6]", "at[25:7] == end_1[25:7]")]


def of_address_channel() -> tuple[Proof, list[Plant]]:
    """AR and AW stay as they are until they are taken."""
    axi = Axi4(PAGES)
    args = flags("clk", "rst", "granted", "room")
    args |= {"request": NumberedRequests(PAGES), "channel": AddressChannel(axi, "ar")}
    fields = tuple(f"channel_{name}" for name in ("id", "addr", "len", "size", "burst"))
    proof = Proof(
        address_channel,
        args | {"port": PAGES},
        [Claim("channel_valid", "channel_ready", fields)],
        assumed=["!granted || room"],
        depth=8,
    )
    return proof, [("channel_ready || !channel_valid", "channel_ready || channel_valid")]


def mover_args(mover: Mover) -> dict[str, Any]:
    """Return the arguments that a reader and a writer have in common."""
    args = flags("clk", "rst") | {"commands": mover_commands(), "state": mover_state(mover.port)}
    return args | {"bursts": Bursts(mover), "mover": mover}


def in_fifo(fifo: str, words: int) -> dict[str, int]:
    """Return the counters inside a credit FIFO, for ``Proof.inside``."""
    address = (words - 1).bit_length()
    widths = {"fill": words.bit_length(), "write_addr": address, "read_addr": address}
    return {f"{fifo}.{name}": width for name, width in widths.items()}


def agrees(fifo: str, words: int) -> str:
    """Verilog: the addresses of a FIFO agree with its fill; ``words`` is a power of two."""
    return f"(({fifo}.write_addr - {fifo}.read_addr - {fifo}.fill) & {words - 1}) == 0"


def of_reader() -> tuple[Proof, list[Plant]]:
    """No AR without room: each beat that memory owes has a place, so no beat ever waits."""
    mover = Mover(port=SHORT, word_bits=32, places=8, bursts=2)
    args = mover_args(mover)
    args |= {"channels": ReadChannels(SHORT), "source": Stream(mover.word_bits)}
    asked, fifo = "(requests_valid && requests_ready)", "credit_fifo_beat_out"
    proof = Proof(
        reader,
        args,
        # The two oldest beats are in registers behind the FIFO, which are not among its places.
        rules=[f"owed + held <= {mover.places} + queued + head_valid"],
        ghosts={
            "owed": f"owed + ({asked} ? requests_length + 8'd1 : 8'd0) - beats_valid",
            "held": "held + beats_valid - (head_valid && take)",
        },
        # Memory sends only beats whose request it took in an earlier cycle.
        assumed=["!beats_valid || owed != 0"],
        inside=in_fifo(fifo, mover.places),
        invariants=[
            f"held == {fifo}.fill + 0 + queued + head_valid",
            f"free + freed + owed + {fifo}.fill == {mover.places}",
            agrees(fifo, mover.places),
        ],
        depth=8,
    )
    return proof, [
        ("^ 5'd15);", "^ 5'd15) + 5'd1;"),
        ("free <= 4'd8", "free <= 4'd9"),
    ]


def of_writer() -> tuple[Proof, list[Plant]]:
    """No AW without data: a request comes after all its beats, so W never waits for the engine.

    The ghosts ``first`` and ``second`` count the beats that are left of each burst whose words were
    taken: there are two at most. Like the arbiter, the assumed port ends a burst at ``last``, so
    the proof covers the place of ``last``, too.
    """
    mover = Mover(port=SHORT, word_bits=32, places=4, bursts=2)
    args = mover_args(mover)
    args |= {"channels": WriteChannels(SHORT), "sink": Stream(mover.word_bits)}
    asked, moved = "(requests_valid && requests_ready)", "(beats_valid && beats_ready)"
    ended, left = f"({moved} && beats_last)", f"(first - {moved})"
    announced = "(announces ? bursts_length + 8'd1 : 8'd0)"
    fifo, queue, packer = "credit_fifo", "credit_fifo_request_out", "lane_packer"
    burst = tuple(f"bursts_{name}" for name in ("address", "length", "first", "final", "last"))
    places, queued = range(mover.places), range(mover.bursts)

    def age(memory: str, word: int, words: int) -> str:
        """Verilog: how many words of the memory are older; the fill or more for a free word."""
        return f"(({word} - {memory}.read_addr) & {words - 1})"

    def ends(at: str) -> str:
        """Verilog: the beat behind ``at`` others is the last one of its burst."""
        return f"({at} + 1 == first || {at} + 1 == first + second)"

    def length(at: str) -> str:
        """Verilog: the beats that are left of the burst behind ``at`` others."""
        return f"({at} == 0 ? first : second)"

    proof = Proof(
        writer,
        args,
        rules=[
            "!requests_valid || held >= promised + requests_length + 1",
            "promised == 0 || beats_valid",
            "promised == 0 || beats_last == (first == 1)",
        ],
        ghosts={
            "held": f"held + packed_valid - {moved}",
            "promised": f"promised + ({asked} ? requests_length + 8'd1 : 8'd0) - {moved}",
            "asks": f"asks + {asked} - {ended}",
            "unanswered": f"unanswered + {ended} - responses_valid",
            "first": f"{left} != 0 ? {left} : second != 0 ? second : {announced}",
            "second": f"({left} != 0) != (second != 0) ? {announced} : {left} != 0 ? second : 8'd0",
        },
        given=[Claim("bursts_valid", "bursts_ready", burst)],
        assumed=[
            # Each burst of the legaliser has a word.
            "bursts_length != 0 || bursts_first <= bursts_final",
            # The port takes beats only for requests that it took in an earlier cycle.
            f"!{moved} || asks != 0",
            # Memory answers only bursts whose last beat it took in an earlier cycle.
            "!responses_valid || unanswered != 0",
        ],
        inside={
            **in_fifo(fifo, mover.places),
            **in_fifo(queue, mover.bursts),
            **{f"{fifo}.memory[{word}]": 67 for word in places},
            **{f"{queue}.memory[{word}]": 31 for word in queued},
            **{f"{packer}.beat": 2, f"{packer}.place_lane": 1, f"{packer}.followed.begins": 1},
        },
        invariants=[
            agrees(fifo, mover.places),
            agrees(queue, mover.bursts),
            # Beats, places and bursts are counted alike everywhere.
            f"held == {fifo}.fill + 0 + beats_valid",
            f"held + packed_valid + 0 == first + second + {packer}.beat",
            f"credit_gate_room + freed + {fifo}.fill + packed_valid == {mover.places}",
            "place == (credit_gate_room != 0)",
            f"outstanding <= {mover.bursts}",
            f"outstanding == {queue}.fill + 0 + requests_valid + asks + unanswered",
            f"{queue}.fill + 0 + requests_valid + asks == (first != 0) + (second != 0)",
            "first != 0 || second == 0",
            "promised == (asks == 0 ? 8'd0 : asks == 1 ? first : first + second)",
            # The packer reaches the final word of each burst in its last beat.
            f"{packer}.beat == 0 || bursts_valid && {packer}.beat <= bursts_length",
            f"{packer}.followed.begins ? {packer}.beat == 0 : bursts_valid",
            f"{packer}.beat != bursts_length || {packer}.followed.begins"
            f" || {packer}.place_lane <= bursts_final",
            f"!packed_valid || {packer}.beat != 0 || {queue}.fill != 0",
            # Both queues hold the lengths and the ends that the ghosts expect.
            f"!requests_valid || requests_length + 8'd1 == {length('asks')}",
            *(
                f"{age(queue, word, 2)} >= {queue}.fill || \\{queue}.memory[{word}] [30:29] + 8'd1"
                f" == {length(f'(asks + requests_valid + {age(queue, word, 2)})')}"
                for word in queued
            ),
            f"!beats_valid || beats_last == {ends('0')}",
            *(
                f"{age(fifo, word, 4)} >= {fifo}.fill || \\{fifo}.memory[{word}] [64]"
                f" == {ends(f'beats_valid + {age(fifo, word, 4)}')}"
                for word in places
            ),
            f"!packed_valid || packed_last == {ends('held')}",
        ],
        depth=8,
    )
    return proof, [
        ("beat == burst_length", "beat + 2'd1 >= burst_length"),
        ("beats_last <= last_beat", "beats_last <= 1'b1"),
    ]


PROOFS: dict[str, Callable[[], tuple[Proof, list[Plant]]]] = {
    "legaliser": of_legaliser,
    "address_channel": of_address_channel,
    "reader": of_reader,
    "writer": of_writer,
}


@pytest.mark.parametrize("block", PROOFS)
def test_a_block_keeps_the_rules_and_a_broken_copy_does_not(block: str, tmp_path: Path) -> None:
    proof, plants = PROOFS[block]()
    verdict, printed = prove(proof, tmp_path / "sound")
    assert verdict == "PASS", printed
    for at, plant in enumerate(plants):
        verdict, printed = prove(proof, tmp_path / f"broken_{at}", plant)
        assert verdict == "FAIL", printed


def test_a_path_without_a_signal_is_refused(tmp_path: Path) -> None:
    """Otherwise the tool would read it as a free input, and an assumption would hold of it."""
    proof, _ = of_reader()
    proof = replace(
        proof, inside={**proof.inside, "credit_fifo.full": 1}, assumed=["!credit_fifo.full"]
    )
    with pytest.raises(RuntimeError, match=r"credit_fifo\.full is used but has no driver"):
        prove(proof, tmp_path)
