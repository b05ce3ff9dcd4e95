"""The RTL compiler's own networks and their arrays, with their measured latencies.

source: "Automatic compiler based FPGA accelerator for CNN training", FPL 2019

Its authors are S. K. Venkataramanaiah, Y. Ma, S. Yin, E. Nurvithadhi, A. Dasu, Y. Cao and J. Seo.

The numbers are in the list ``rtl-compiler`` of the papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from merp.models.base.ordered_sum import ordered_sum
from merp.models.machines.mac_array.array_cycles import update_slots
from merp.models.machines.mac_array.geometry import Geometry, geometry
from merp.models.machines.mac_array.params.design import Array
from merp.models.machines.mac_array.rtl_compiler.latency import (
    BoardArray,
    image_seconds,
    update_seconds,
)
from merp.models.machines.mac_array.rtl_compiler.networks import cifar
from merp.models.network.network import Network
from merp.models.papers.lists import paper

PAPER: Final = paper("rtl-compiler")
IMAGES: Final = 50_000  # per epoch
HERTZ: Final = PAPER["IV.A", "clock"] * 1e6
BYTES_S: Final = PAPER["IV.A", "bandwidth of DRAM"] * 1e9  # printed as 16.9 Gb/s
DSPS: Final = int(PAPER["IV.A", "DSP blocks"])
MEMORY_MBITS: Final = PAPER["IV.A", "block RAM"]
ALMS: Final = 933_120  # printed as 93 K
WORD_BITS: Final = 16
BATCHES: Final = (10, 20, 40)
POWERS: Final = ("DSP", "RAM", "logic", "clock", "static")


@dataclass(frozen=True)
class PaperDesign:
    """A network on its array, as in table II.

    Attributes:
        times: the number of maps relative to the smallest network.
    """

    times: int

    @property
    def name(self) -> str:
        """The paper's name of the design."""
        return f"{self.times}X"

    def printed(self, what: str, place: str = "table II") -> float:
        """Return a number of the paper; from a column with two units, the quantity."""
        return PAPER[place, f"{self.name}, {what}"]

    @property
    def epochs(self) -> dict[int, float]:
        """Printed seconds of an epoch, by batch size."""
        return {batch: self.printed(f"epoch, batch {batch}") for batch in BATCHES}

    @property
    def gops(self) -> float:
        """Printed throughput."""
        return self.printed("throughput")

    @property
    def watts(self) -> float:
        """Sum of all printed powers."""
        return ordered_sum(self.printed(f"power of {of}") for of in POWERS)

    @property
    def dsps(self) -> int:
        """Printed DSP blocks."""
        return int(self.printed("DSP"))

    @property
    def alms(self) -> int:
        """Printed ALMs; the number of 1X is misprinted as a tenth, and is corrected here."""
        return round(1000 * self.printed("ALM") * (10 if self.times == 1 else 1))

    @property
    def mbits(self) -> float:
        """Printed block RAM, in units of 10^6 bits."""
        return self.printed("BRAM")

    @property
    def maps(self) -> int:
        """Output maps that the array computes concurrently."""
        return 16 * self.times

    @property
    def machine(self) -> BoardArray:
        """The array on its board."""
        return BoardArray(self.maps, HERTZ, BYTES_S)

    def layers(self) -> list[Geometry]:
        """Return the layers of its network."""
        network = cifar(self.times)
        return [geometry(network, layer) for layer in network.layers]

    def epoch(self, batch: int) -> float:
        """Return the modelled seconds of an epoch."""
        return epoch(self.machine, self.layers(), batch)

    @property
    def each_image(self) -> float:
        """Printed seconds of an image without an update: the limit for large batches."""
        ten, forty = self.epochs[10], self.epochs[40]
        return (forty - (ten - forty) / 3) / IMAGES


DESIGNS: Final = (PaperDesign(1), PaperDesign(2), PaperDesign(4))


def epoch(machine: BoardArray, layers: Sequence[Geometry], batch: int) -> float:
    """Return the modelled seconds of an epoch of layers on a machine."""
    return IMAGES * (image_seconds(machine, layers) + update_seconds(machine, layers) / batch)


def of_paper(network: Network) -> PaperDesign | None:
    """Return the paper's design for a network with the same layers, or None."""
    shapes = [layer.shape for layer in network.layers]
    for design in DESIGNS:
        if [layer.shape for layer in cifar(design.times).layers] == shapes:
            return design
    return None


def update_share(design: PaperDesign) -> float:
    """Return KU's share of the last image of a batch."""
    machine, layers = design.machine, design.layers()
    extra = update_seconds(machine, layers)
    update = ordered_sum(machine.image(layer, "ku") for layer in layers) + extra
    return update / (image_seconds(machine, layers) + extra)


def hidden(design: PaperDesign) -> float:
    """Return the share of the last image's KU time that double buffering saves."""
    layers, extra = design.layers(), update_seconds(design.machine, design.layers())
    single = BoardArray(design.maps, HERTZ, BYTES_S, double=False)
    slow, fast = (
        ordered_sum(machine.image(layer, "ku") for layer in layers) + extra
        for machine in (single, design.machine)
    )
    return 1 - fast / slow


def balancing(design: PaperDesign) -> float:
    """Return the speed-up of KU if idle pixels process additional input maps."""
    layers = design.layers()
    plain, balanced = (
        sum(update_slots(layer, Array(pof=design.maps, balance=each)) for layer in layers)
        for each in (False, True)
    )
    return plain / balanced
