"""How networks are cut over nodes: evenly, in order, and no further than there are maps."""

import pytest

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.tools.common.shipped import open_network

Places = list[tuple[int, str, int, int]]


def places(name: str, devices: int) -> Places:
    return [
        (share.node, share.layer.name, share.begin, share.end)
        for share in cut(open_network(name), devices)
    ]


@pytest.mark.parametrize(
    ("devices", "wanted"),
    [
        (1, [(0, "conv1", 0, 1), (0, "conv2", 0, 4), (0, "fc3", 0, 24)]),
        (2, [(0, "conv1", 0, 1), (0, "conv2", 0, 4), (1, "fc3", 0, 24)]),
        (3, [(0, "conv1", 0, 1), (0, "conv2", 0, 2), (1, "conv2", 2, 4), (2, "fc3", 0, 24)]),
        (
            6,
            [
                (0, "conv1", 0, 1), (1, "conv2", 0, 1), (2, "conv2", 1, 2), (3, "conv2", 2, 3),
                (4, "conv2", 3, 4), (5, "fc3", 0, 24),
            ],
        ),
    ],
)  # fmt: skip
def test_tiny3_is_cut(devices: int, wanted: Places) -> None:
    assert places("tiny3", devices) == wanted


@pytest.mark.parametrize("name", ["tiny3", "digits", "lenet5", "cifar10-1x"])
def test_every_map_is_on_one_node_and_no_node_is_empty(name: str) -> None:
    network = open_network(name)
    for devices in range(1, 7):
        shares = cut(network, devices)
        assert sorted({share.node for share in shares}) == list(range(devices))
        assert [share.node for share in shares] == sorted(share.node for share in shares)
        for layer in network.layers:
            own = [share for share in shares if share.layer is layer]
            assert [share.begin for share in own] == [0, *(share.end for share in own[:-1])]
            assert own[-1].end == layer.shape.n
            assert [share.part.first for share in own] == [True] + [False] * (len(own) - 1)
            assert [share.part.last for share in own] == [False] * (len(own) - 1) + [True]


def test_more_nodes_than_maps_are_refused_with_the_most_that_do() -> None:
    with pytest.raises(BadInput, match="--devices 7: tiny3 has pieces for 6 nodes at most"):
        cut(open_network("tiny3"), 7)
