"""Outputs that layers take together: their sizes, the ranges of their maps, and their users."""

import tomllib
from collections.abc import Callable

import pytest

from merp.models.base.errors import BadInput
from merp.models.network.branches import (
    all_expand,
    behind,
    learns,
    parts,
    previous,
    receiver,
    stored_as,
    takers,
    undone_shape,
    within,
)
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from network_text import layer, max_pool, network_text


@pytest.fixture
def fire() -> Callable[..., Network]:
    """A network whose conv4 and conv5 take the maps of conv3 and conv2 together."""

    def made(frozen: tuple[str, ...] = (), **changes: object) -> Network:
        layers = [
            layer("conv1", 4, kernel=3, pad=1),
            layer("conv2", 3, kernel=1, pool=max_pool(2, 2)),
            layer("conv3", 6, kernel=3, pad=1, groups=2, input="conv1", pool=max_pool(2, 2)),
            layer("conv4", 5, kernel=1, relu=False, input=["conv3", "conv2"]),
            layer("conv5", 5, kernel=1, input=["conv3", "conv2"], add="conv4"),
        ]
        layers[1] |= changes
        for each in layers:
            each |= {"trainable": False} if each["name"] in frozen else {}
        return network_of("fire.toml", tomllib.loads(network_text("fire", (8, 6, 2), *layers)))

    return made


def test_it_is_a_layer_with_the_maps_of_its_parts(fire: Callable[..., Network]) -> None:
    network = fire()
    front = previous(network, network.layer("conv4"))
    assert front is not None
    assert front == previous(network, network.layer("conv5"))
    assert (front.name, front.biases, front.outputs) == ("conv3+conv2", 9, 9 * 4 * 3)
    assert (front.shape.out_rows, front.shape.out_columns) == (8, 6)
    assert [each.name for each in takers(network, front)] == ["conv4", "conv5"]
    ranges = [(part.name, own.start, own.stop) for part, own in parts(network, front)]
    assert ranges == [("conv3", 0, 6), ("conv2", 6, 9)]
    assert [within(network, network.layer(name)) for name in ("conv3", "conv2")] == [
        (front, 0), (front, 6),
    ]  # fmt: skip
    alone = network.layer("conv1")
    assert (within(network, alone), parts(network, alone)) == ((alone, 0), ((alone, slice(None)),))


def test_its_delta_is_expanded_by_the_last_layer_that_propagates(
    fire: Callable[..., Network],
) -> None:
    network = fire()
    conv2, conv4, conv5 = map(network.layer, ("conv2", "conv4", "conv5"))
    front = receiver(network, conv4)
    assert behind(network, conv4) == front
    assert (behind(network, conv5).shape.relu, behind(network, conv5).shape.pool) == (False, None)
    assert stored_as(network, conv2) == conv2
    assert undone_shape(network, conv2) == conv2.shape
    assert all_expand(network)


@pytest.mark.parametrize(
    "change",
    [{"relu": False}, {"pool": max_pool(3, 2, pad=1)}, {"stride": 2, "pool": max_pool(1, 1)}],
    ids=["relu", "pool", "stride"],
)
def test_different_parts_are_stored_as_outputs(
    fire: Callable[..., Network], change: dict[str, object]
) -> None:
    network = fire(**change)
    front = previous(network, network.layer("conv4"))
    assert front is not None
    shape = front.shape
    assert (shape.out_rows, shape.out_columns, shape.relu, shape.pool) == (4, 3, False, None)
    assert not all_expand(network)


def test_it_needs_a_delta_if_a_part_does(fire: Callable[..., Network]) -> None:
    network = fire(frozen=("conv1", "conv2"))
    assert learns(network, network.layer("conv2")), "the golden model expands all parts together"
    assert receiver(network, network.layer("conv2")) is None
    assert receiver(network, network.layer("conv4")) is not None
    network = fire(frozen=("conv1", "conv2", "conv3"))
    assert receiver(network, network.layer("conv4")) is None


def test_no_layer_has_its_name(fire: Callable[..., Network]) -> None:
    text = network_text(
        "named",
        (4, 4, 2),
        layer("conv1", 4, kernel=1),
        layer("conv2", 3, kernel=1),
        layer("conv3", 3, kernel=1, input="conv1"),
        layer("conv2+conv3", 3, kernel=1, input=["conv2", "conv3"]),
    )
    message = (
        "named.toml: layer conv2[+]conv3: allowed is another name: that of a concatenation is "
        "conv2[+]conv3"
    )
    with pytest.raises(BadInput, match=f"^{message}$"):
        network_of("named.toml", tomllib.loads(text))


def test_fixed_point_takes_one_output() -> None:
    text = network_text(
        "fixed",
        (4, 4, 2),
        layer("conv1", 4, kernel=1),
        layer("conv2", 3, kernel=1),
        layer("conv3", 3, kernel=1, input="conv1"),
        layer("conv4", 3, kernel=1, input=["conv2", "conv3"]),
        format="fixed16",
    )
    message = (
        "fixed.toml: layer conv4: input: allowed is one layer with format = 'fixed16': outputs may "
        "have different fraction bits"
    )
    with pytest.raises(BadInput, match=f"^{message}$"):
        network_of("fixed.toml", tomllib.loads(text))
