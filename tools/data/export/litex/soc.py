"""Generate the LiteX system of this package: its Verilog, its firmware and its constraints.

    python soc.py simulation|ulx3s-85f FOLDER

The system has a VexRiscv, LiteDRAM with the SDR SDRAM of the board, the accelerator of the package
on a LiteDRAM port of its own, and a UART. The simulation has LiteDRAM's model of PHY and memory in
place of the pins; everything else is the same.
"""

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litedram.frontend.axi import LiteDRAMAXI2Native, LiteDRAMAXIPort
from litedram.modules import MT48LC16M16
from litedram.phy import GENSDRPHY
from litedram.phy.model import SDRAMPHYModel
from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
from litex.build.io import CRG, DDROutput
from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL
from litex.soc.integration.builder import Builder
from litex.soc.integration.common import get_mem_data
from litex.soc.integration.export import get_linker_regions
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore
from litex.soc.interconnect.axi import AXILiteInterface
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockDomain, ClockSignal, Instance, ResetSignal

HERE = Path(__file__).resolve().parent
NAME = "board"
ROM_BYTES = 128 * 1024
STACK_BYTES = 8 * 1024
REGISTERS = 0x9000_0000
"""Address of the accelerator's registers, in a region without a cache."""
COMPILER = "riscv64-unknown-elf-gcc"
WAYS = {
    "aw": "out", "w": "out", "ar": "out", "b": "in", "r": "in",
}  # fmt: skip
"""Directions of the channels of a manager."""


class Clocks(LiteXModule):
    """The clocks of a ULX3S: 25 MHz in; the system's; the memory's a quarter behind it."""

    def __init__(self, platform: Any, hertz: float) -> None:
        """Take the pins; ``hertz`` is the clock of the system."""
        for name in ("sys", "sys_ps"):
            setattr(self, f"cd_{name}", ClockDomain(name))
        self.pll = pll = ECP5PLL()
        self.comb += pll.reset.eq(platform.request("rst"))
        pll.register_clkin(platform.request("clk25"), 25e6)
        pll.create_clkout(self.cd_sys, hertz)
        pll.create_clkout(self.cd_sys_ps, hertz, phase=90)
        clock = platform.request("sdram_clock")
        self.specials += DDROutput(1, 0, clock, ClockSignal("sys_ps"))
        self.comb += platform.request("wifi_gpio0").eq(1)  # it would reset the FPGA


class Accelerator(LiteXModule):
    """The top of the package; its interrupt is that of the CPU."""

    def __init__(self, top: str, registers: Any, memory: Any) -> None:
        """Connect AXI4-Lite registers and AXI4 memory."""
        self.ev = EventManager()
        self.ev.ended = EventSourceLevel()
        self.ev.finalize()
        pins = {
            "i_clk": ClockSignal(), "i_rst": ResetSignal(), "o_interrupt": self.ev.ended.trigger,
        }  # fmt: skip
        for bus, name, outer in ((registers, "s_axi", "in"), (memory, "m_axi", "out")):
            for channel, way in WAYS.items():
                ends = getattr(bus, channel)
                out, back = ("o", "i") if way == outer else ("i", "o")
                for part in _parts(bus, channel):
                    side = back if part == "ready" else out
                    pins[f"{side}_{name}_{channel}{part}"] = getattr(ends, part)
        self.specials += Instance(top, **pins)


def _parts(bus: Any, channel: str) -> tuple[str, ...]:
    """Return the signals of a channel that the top has."""
    lite = isinstance(bus, AXILiteInterface)
    own: dict[str, tuple[str, ...]] = {
        "aw": ("addr",) if lite else ("id", "addr", "len", "size", "burst"),
        "w": ("data", "strb") if lite else ("data", "strb", "last"),
        "b": ("resp",) if lite else ("id", "resp"),
        "r": ("data", "resp") if lite else ("id", "data", "resp", "last"),
    }
    own["ar"] = own["aw"]
    return "valid", "ready", *own[channel]


class System(SoCCore):
    """The system on a platform."""

    def __init__(self, platform: Any, simulated: bool, program: Sequence[int] = ()) -> None:
        """Connect everything; ``program`` is the contents of the ROM."""
        package = json.loads((HERE / "system.json").read_text())
        hertz = package["clock_mhz"] * 1e6
        SoCCore.__init__(
            self, platform, hertz, cpu_type="vexriscv", cpu_variant="standard",
            ident="merp", ident_version=False, uart_name="sim" if simulated else "serial",
            integrated_rom_size=ROM_BYTES, integrated_rom_init=program,
            integrated_sram_size=STACK_BYTES,
        )  # fmt: skip
        chip = MT48LC16M16(hertz, "1:1")
        if simulated:
            self.crg = CRG(platform.request("sys_clk"))
            self.sdrphy = SDRAMPHYModel(chip, data_width=16, clk_freq=hertz)
        else:
            self.crg = Clocks(platform, hertz)
            self.sdrphy = GENSDRPHY(platform.request("sdram"), hertz)
        # Without an L2 cache, each store of the CPU is in memory before its next access.
        self.add_sdram("sdram", phy=self.sdrphy, module=chip, l2_cache_size=0)
        port = package["port"]
        registers = AXILiteInterface(data_width=32, address_width=32)
        region = SoCRegion(origin=REGISTERS, size=0x1000, cached=False)
        self.bus.add_slave("merp", registers, region=region)
        # LiteDRAM cuts a beat into the words of its own port; addresses of the lists begin at 0.
        native = self.sdram.crossbar.get_port(data_width=port["data_bits"])
        memory = LiteDRAMAXIPort(port["data_bits"], port["address_bits"], id_width=port["id_bits"])
        self.memory_port = LiteDRAMAXI2Native(memory, native)
        self.merp = Accelerator(package["top"], registers, memory)
        self.irq.add("merp")
        for each in package["verilog"]:
            own = HERE / Path(each).name  # a module for this FPGA
            is_own = not simulated and own.exists()
            platform.add_source(str(own if is_own else HERE.parent / each))


def _simulated() -> Any:
    """Return a platform with the pins of a simulation."""
    serial = [
        Subsignal(f"{end}_{part}", Pins(bits))
        for end in ("source", "sink")
        for part, bits in (("valid", 1), ("ready", 1), ("data", 8))
    ]
    pins = [("sys_clk", 0, Pins(1)), ("serial", 0, *serial)]
    return GenericPlatform("SIM", pins, name="sim")


def _ulx3s() -> Any:
    from litex_boards.platforms.radiona_ulx3s import Platform

    return Platform(device="LFE5U-85F", toolchain="trellis")


PLATFORMS = {"simulation": _simulated, "ulx3s-85f": _ulx3s}


def headers(target: str, folder: Path) -> Path:
    """Write the headers of the system for its firmware, and return their folder."""
    builder = Builder(
        System(PLATFORMS[target](), target == "simulation"), output_dir=folder / "headers",
        compile_software=False, compile_gateware=False,
    )  # fmt: skip
    builder.soc.finalize()
    builder._generate_includes(with_bios=False)
    includes = Path(builder.include_dir)
    regions = get_linker_regions(builder.soc.mem_regions)
    (includes / "regions.ld").write_text(regions)
    return includes


def firmware(includes: Path, folder: Path) -> Sequence[int]:
    """Compile the firmware; return the words of the ROM."""
    import litex.soc.cores.cpu.vexriscv as cpu
    from litex.soc import software

    own = Path(cpu.__file__).parent
    libraries = Path(next(iter(software.__path__)))
    found = [HERE, includes, libraries / "include", libraries, own]
    program = folder / "firmware.elf"
    command = [
        COMPILER, "-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-Os", "-std=gnu99",
        "-Wall", "-Wextra",
        "-ffreestanding", "-fno-builtin", "-nostdlib", "-nostartfiles", "-Wl,--gc-sections",
        "-ffunction-sections", "-fdata-sections",
        *(f"-isystem{each}" for each in found),
        f"-L{includes}", f"-Wl,-T,{HERE / 'firmware.ld'}", str(own / "crt0.S"),
        *(str(HERE / each) for each in ("firmware.c", "../driver/merp.c")),
        "-lgcc", "-o", str(program),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    image = folder / "firmware.bin"
    subprocess.run(
        [COMPILER.replace("gcc", "objcopy"), "-O", "binary", str(program), str(image)], check=True
    )
    words: Sequence[int] = get_mem_data(str(image), data_width=32, endianness="little")
    return words


def main() -> None:
    """Write the files of a target into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", choices=PLATFORMS)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program = firmware(headers(asked.target, folder), folder)
    platform = PLATFORMS[asked.target]()
    system = System(platform, asked.target == "simulation", program)
    if asked.target == "simulation":
        system.finalize()
        fragment = system.get_fragment()
        platform.finalize(fragment)
        os.chdir(folder)  # files with the contents of memories are written there
        platform.get_verilog(fragment, name=NAME).write(f"{NAME}.v")
    else:
        system.build(build_dir=str(folder), build_name=NAME, run=False)
    sources = [Path(source[0]) for source in platform.sources]
    names = [NAME + ".v"]
    for source in sources:
        if source.name not in names:
            shutil.copy(source, folder / source.name)
            names.append(source.name)
    (folder / "sources.json").write_text(json.dumps(names) + "\n")


if __name__ == "__main__":
    main()
