"""What the RTL compiler's paper prints, beside what its counts and a fitted model give.

Source: S. K. Venkataramanaiah, Y. Ma, S. Yin, E. Nurvithadhi, A. Dasu, Y. Cao, J. Seo, "Automatic
compiler based FPGA accelerator for CNN training", FPL 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from merp.models.comparison.printed import Printed
from merp.models.comparison.reproduction import Place
from merp.models.mac_array.array_cycles import update_slots
from merp.models.mac_array.geometry import Geometry, geometry
from merp.models.network.network import Network
from merp.models.params.mac_array.design import Array
from merp.models.rtl_compiler.latency import Machine, image_seconds, update_seconds
from merp.models.rtl_compiler.networks import cifar
from merp.models.rtl_compiler.resources import dsp_blocks, memory_bits
from merp.models.traffic.published import Erratum

IMAGES: Final = 50_000  # of an epoch
HERTZ: Final = 240e6
BYTES_S: Final = 16.9e9  # printed as 16.9 Gb/s
DSPS: Final = 5760
MEMORY_MBITS: Final = 240
ALMS: Final = 933_120  # printed as 93 K
WORD_BITS: Final = 16

ERRATA: Final = (
    Erratum(
        "section IV.A", "16.9 Gb/s", "16.9 GB/s",
        "at gigabits the kernels of 4X alone take 224 s of the printed 96 s; and 30X to the GPU",
    ),
    Erratum("section IV.A", "93K ALMs", "933 K", "415 K are 44 %, and 720 K are 76.2 %"),
    Erratum("table II, 1X", "20.8K ALMs (19 %)", "208 K, 22 %", "as 2X and 4X are"),
    Erratum("table II, 4X", "BRAM 22.4 %", "22.7 %", "54.5 of 240 Mbit"),
    Erratum("conclusion", "2M parameters", "1,185,472", "of 4X, the largest"),
    Erratum(
        "equation (6)", "+ beta past gradient", "- beta past update",
        "with the gradient's sign it climbs; momentum is of the past update",
    ),
    Erratum(
        "section II", "gradient and error vector", "gradient and activation vector",
        "as section III.E has it for fully connected layers",
    ),
    Erratum(
        "section III.C", "rows with weights of their own, columns that share them",
        "pixels of a lane share weights, lanes share pixels", "the two sentences contradict",
    ),
    Erratum("section III.F", "4X by balancing", "3.94 to 3.98", "3 input maps, 4 regions"),
    Erratum("section I", "over 3X inference", "2.96 to 2.99", "the first layer has no DP"),
)  # fmt: skip


@dataclass(frozen=True)
class Design:
    """A network on its array, as table II has it.

    Attributes:
        epochs: seconds, by batch. gops, watts: printed; the power's columns added up.
        dsps, mbits: printed. alms: thousands of them, that of 1X as its erratum has it.
    """

    times: int
    epochs: dict[int, str]
    gops: str
    watts: float
    efficiency: str
    dsps: str
    dsp_share: str
    mbits: str
    alms: str

    @property
    def maps(self) -> int:
        """Output maps at once."""
        return 16 * self.times

    @property
    def machine(self) -> Machine:
        """The array on its board."""
        return Machine(self.maps, HERTZ, BYTES_S)

    def layers(self) -> list[Geometry]:
        """Layers of its network."""
        network = cifar(self.times)
        return [geometry(network, layer) for layer in network.layers]

    def epoch(self, batch: int) -> float:
        """Return our seconds of an epoch."""
        return epoch(self.machine, self.layers(), batch)

    @property
    def each_image(self) -> float:
        """Printed seconds of an image, without an update: what remains in ever larger batches."""
        ten, forty = float(self.epochs[10]), float(self.epochs[40])
        return (forty - (ten - forty) / 3) / IMAGES


DESIGNS: Final = (
    Design(
        1, {10: "18.19", 20: "18.07", 40: "18.01"}, "163", 0.58 + 5.7 + 2.4 + 1.68 + 10.28, "7.90",
        "1699", "30", "10.6", "208",
    ),
    Design(
        2, {10: "41.7", 20: "41.30", 40: "41"}, "282", 1.05 + 11.2 + 6.6 + 2.97 + 11, "8.59",
        "3363", "58", "22.8", "415",
    ),
    Design(
        4, {10: "98.2", 20: "96.87", 40: "96.18"}, "479", 3.48 + 14.6 + 11 + 4.95 + 16.47, "9.49",
        "5760", "100", "54.5", "720",
    ),
)  # fmt: skip


def epoch(machine: Machine, layers: Sequence[Geometry], batch: int) -> float:
    """Return our seconds of an epoch of layers on a machine."""
    return IMAGES * (image_seconds(machine, layers) + update_seconds(machine, layers) / batch)


def of_paper(network: Network) -> Design | None:
    """The design that the paper has for a network, by its layers; or none."""
    shapes = [layer.shape for layer in network.layers]
    for design in DESIGNS:
        if [layer.shape for layer in cifar(design.times).layers] == shapes:
            return design
    return None


_RATES: Final = "two rates fitted to the nine; held out, a network is off by up to 8.3 %"


def published() -> tuple[Printed, ...]:
    """Tables II and III, and what is said of updates and balancing."""
    tables = [each for design in DESIGNS for each in (*_latency(design), *_resources(design))]
    return (*tables, *_update(), *_text())


def _latency(design: Design) -> list[Printed]:
    place, name = Place("table II"), f"{design.times}X"
    rows = [
        place.fitted(
            f"{name}, epoch, batch {batch}", "s", printed, design.epoch(batch), 0.023, _RATES
        )
        for batch, printed in design.epochs.items()
    ]
    ten, twenty, forty = (float(each) for each in design.epochs.values())
    between = forty + (ten - forty) / 3  # c + u/20 of c + u/10 and c + u/40
    rows.append(
        place.follows(
            f"{name}, epoch, batch 20, from 10 and 40", "s", design.epochs[20], between, 0.002,
            f"{twenty} printed; an update a batch",
        )
    )  # fmt: skip
    once = (ten - forty) * 1e6 / (1 / 10 - 1 / 40) / IMAGES
    ours = 1e6 * update_seconds(design.machine, design.layers())
    rows.append(
        place.fitted(f"{name}, an update, from 10 and 40", "us", f"{once:.0f}", ours, 0.155, _RATES)
    )
    network = cifar(design.times)
    macs = sum(layer.operations() // 2 for layer in network.layers)
    gops = 6 * macs * IMAGES / forty / 1e9
    without = gops * (1 - network.layers[0].operations() / 6 / macs)
    rows += [
        place.follows(f"{name}, throughput", "GOPS", design.gops, gops, 0.012, "6 a MAC"),
        place.follows(
            f"{name}, throughput without DP of layer 1",
            "GOPS",
            design.gops,
            without,
            0.012,
            "4 a MAC there",
        ),
    ]
    efficiency = float(design.gops) / design.watts
    rows.append(
        Place("table III").exact(f"{name}, efficiency", "GOPS/W", design.efficiency, efficiency)
    )
    return rows


def _resources(design: Design) -> list[Printed]:
    place, name = Place("table II"), f"{design.times}X"
    bits = memory_bits(design.layers(), design.maps, WORD_BITS)
    blocks = dsp_blocks(design.maps, DSPS)
    share = 100 * float(design.dsps) / DSPS
    return [
        place.fitted(f"{name}, DSP", "blocks", design.dsps, blocks, 0.0, "35 and 1.625 a MAC"),
        place.follows(f"{name}, DSP", "%", design.dsp_share, share, 0.017, "29.50 was rounded up"),
        place.fitted(f"{name}, BRAM", "Mbit", design.mbits, bits / 1e6, 0.003, "two numbers"),
    ]


def update_share(design: Design) -> float:
    """Return KU's share of the last image of a batch."""
    machine, layers = design.machine, design.layers()
    extra = update_seconds(machine, layers)
    update = sum(machine.image(layer, "ku") for layer in layers) + extra
    return update / (image_seconds(machine, layers) + extra)


def hidden(design: Design) -> float:
    """Return the share of KU of the last image that double buffering takes away."""
    layers, extra = design.layers(), update_seconds(design.machine, design.layers())
    single = Machine(design.maps, HERTZ, BYTES_S, double=False)
    slow, fast = (
        sum(machine.image(layer, "ku") for layer in layers) + extra
        for machine in (single, design.machine)
    )
    return 1 - fast / slow


def balancing(design: Design) -> float:
    """Return by how much KU is faster where idle pixels have further input maps."""
    layers = design.layers()
    plain, balanced = (
        sum(update_slots(layer, Array(pof=design.maps, balance=each)) for layer in layers)
        for each in (False, True)
    )
    return plain / balanced


def _update() -> list[Printed]:
    place, largest = Place("IV.B"), DESIGNS[-1]
    return [
        place.fitted(
            "4X, KU of the last image", "%", "51", 100 * update_share(largest), 0.067, _RATES
        ),
        place.fitted("4X, double buffering, KU", "%", "11", 100 * hidden(largest), 0.108, _RATES),
        *(
            place.follows(
                f"{design.times}X, load balancing, KU", "x", "4", balancing(design), 0.015,
                "the first layer has 3 maps for 4 regions",
            )
            for design in DESIGNS
        ),
        place.follows(
            "DRAM, below the GPU's 547.6 GB/s", "x", "30", 547.6e9 / BYTES_S, 0.081, "in bytes"
        ),
    ]  # fmt: skip


def _text() -> list[Printed]:
    largest = cifar(4)
    macs = [layer.operations() for layer in largest.layers]
    step = sum((3 if place else 2) * count for place, count in enumerate(macs)) / sum(macs)
    parameters = sum(layer.kernels for layer in largest.layers) / 1e6
    table = Place("table II")
    return [
        Place("conclusion").fails("parameters", "10^6", "2", parameters, "4X has 1,185,472"),
        Place("I").follows(
            "operations of training over inference", "x", "3", step, 0.004,
            "above 3 is printed; the first layer has no DP",
        ),
        table.fails("1X, ALM", "%", "19", 100 * 20.8 / 93, "208 K of 933 K are 22.3, too"),
        table.fails("4X, BRAM", "%", "22.4", 100 * 54.5 / MEMORY_MBITS, "54.5 of 240 Mbit"),
        table.follows("2X, ALM", "%", "44", 100 * 415e3 / ALMS, 0.011, "of 933 K, printed as 93 K"),
        table.follows("4X, ALM", "%", "76.2", 100 * 720e3 / ALMS, 0.013, "of 933 K"),
        Place("IV.B").fails("accuracy of 1X", "%", "73", None, "CIFAR-10 is not trained on here"),
    ]  # fmt: skip
