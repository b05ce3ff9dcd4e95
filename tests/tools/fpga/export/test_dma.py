"""How many images one transfer of AXI DMA takes."""

import re
from pathlib import Path

import pytest

from merp.models.network.phases import PHASES
from merp.tools.common.shipped import open_network
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from merp.tools.fpga.export.dma import LARGEST_TRANSFER, images_in_a_transfer
from merp.tools.fpga.export.facts import layer_facts
from packages import manifest_of


@pytest.mark.parametrize(("most", "found"), [(4, None), (9, 6)])
def test_a_transfer_has_at_most_26_bits_of_length(most: int, found: int | None) -> None:
    size = 10 * 2**20  # bytes of an image; 64 MiB less a byte fit
    assert images_in_a_transfer(lambda images: size * images, most) == found
    assert images_in_a_transfer(lambda images: LARGEST_TRANSFER, most) is None
    assert images_in_a_transfer(lambda images: LARGEST_TRANSFER + 1, most) == 0


def test_an_export_tells_how_many_images_a_dma_takes_at_once(exports: dict[str, Path]) -> None:
    network = open_network("alexnet")
    layer = network.layer("conv1")
    facts = layer_facts(bitstream_of(network, layer, "fp"), layer, 128)
    assert facts["bytes"]["map_in"] == 77_070_336  # 224 * 224 * 3 * 4 an image
    assert (facts["dma_images"]["map_in"], facts["dma_images"]["kernel"]) == (111, None)
    for phase in PHASES:
        page = (exports[phase] / "README.md").read_text()
        [row] = re.findall(r"^\| conv2 \|((?: [\d,]+ \(all\) \|)+)$", page, re.MULTILINE)
        told = manifest_of(exports[phase])["layers"][-1]
        assert row.count("(all)") == len(told["bytes"])
