"""Rules of AXI4 that the blocks of a memory interface keep: proofs, and proofs that must fail."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.block.formal import Claim, Proof, prove
from merp.hdl.base.signals import flag
from merp.hdl.memory.address_channel import address_channel
from merp.hdl.memory.axi4 import AddressChannel, Axi4
from merp.hdl.memory.legaliser import legaliser
from merp.hdl.memory.requests import Bursts, NumberedRequests, Runs
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from needed_tools import needs

pytestmark = needs("yosys", "z3")
Plant = tuple[str, str]

PAGES = MemoryPort(data_bits=512)
"""Its longest burst, 64 beats of 64 bytes, fills a page of 4 KiB."""


def flags(*names: str) -> dict[str, Any]:
    return {name: flag() for name in names}


def of_legaliser() -> tuple[Proof, Plant]:
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
        invariants=[
            "!bursts_valid || bursts_address <= end_1",
            "!bursts_valid || {1'b0, bursts_address[5:0]} + {1'b0, bursts_length} <= 7'd63",
        ],
        depth=4,
    )
    return proof, ("bursts_address[25:6] == end_1[25:6]", "bursts_address[25:7] == end_1[25:7]")


def of_address_channel() -> tuple[Proof, Plant]:
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
    return proof, ("channel_ready || !channel_valid", "channel_ready || channel_valid")


PROOFS: dict[str, Callable[[], tuple[Proof, Plant]]] = {
    "legaliser": of_legaliser,
    "address_channel": of_address_channel,
}


@pytest.mark.parametrize("block", PROOFS)
def test_a_block_keeps_the_rules_and_a_broken_copy_does_not(block: str, tmp_path: Path) -> None:
    proof, plant = PROOFS[block]()
    verdict, printed = prove(proof, tmp_path / "sound")
    assert verdict == "PASS", printed
    verdict, printed = prove(proof, tmp_path / "broken", plant)
    assert verdict == "FAIL", printed
