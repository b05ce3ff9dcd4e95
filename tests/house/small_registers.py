"""A small register file: three settings in two bundles, a status with two counters."""

from block_bench import BlockBench
from merp.hdl.axi.axi_lite import RegisterRead, RegisterWrite
from merp.hdl.axi.axi_registers import RunControl, axi_registers
from merp.hdl.base.signals import Bundles, bits, flag
from merp.hdl.base.status import Status
from merp.models.base.register_map import WORD_MAX, RegisterMap, Setting, register_map


def small_map() -> RegisterMap:
    """Its registers."""
    settings = {
        "a_config_size": Setting(1, 9, "a size"),
        "a_config_on": Setting(0, 1, "a flag"),
        "b_config_word": Setting(0, WORD_MAX, "a word"),
    }
    return register_map("small", "1.2.3", "", settings, {"total": 40, "map_in": 40})


class _Config:
    def __init__(self) -> None:
        self.size = bits(4)
        self.on = flag()


class _Word:
    def __init__(self) -> None:
        self.word = bits(32)


class _Status(Status):
    def __init__(self) -> None:
        self.busy, self.done, self.framing_error = flag(), flag(), flag()
        self.total, self.map_in = bits(40), bits(40)


def small_file(registers: RegisterMap) -> BlockBench:
    """The block with these registers."""
    return BlockBench(
        axi_registers, "clk rst interrupt", runs=RunControl(flag(), flag(), flag()),
        write=RegisterWrite(), read=RegisterRead(),
        settings=Bundles({"a_config": _Config(), "b_config": _Word()}),
        status=_Status(), registers=registers,
    )  # fmt: skip
