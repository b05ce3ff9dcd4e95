"""Frozen layers in golden training: a step equals a whole step whose frozen layers are restored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marks import in_full
from merp.models.arithmetic.fixed import to_words
from merp.models.arithmetic.words import to_bits
from merp.models.base.errors import BadInput
from merp.models.golden import training
from merp.models.golden.training import rates_of
from merp.models.machines.mac_array import fixed_training
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.network.branches import receiver
from merp.models.network.network import Network
from merp.models.network.network_file import network_of

IMAGES, CLASSES, SEEDS = 2, 3, 60
SIZE = {"rows": 4, "columns": 4, "channels": 2}
LABELS = np.array([2, 0])

RATES = FixedRates(rate=0.02, momentum=0.5, seed=3, step=5)
ARRAY = {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}


def thawed(network: Network) -> Network:
    """The same network with every layer trainable."""
    layers = tuple(replace(layer, trainable=True) for layer in network.layers)
    return replace(network, layers=layers)


def random_layers(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Layers of one size with random inputs, additions, poolings and frozen layers."""
    count = int(rng.integers(2, 7))
    tables: list[dict[str, Any]] = []
    for place in range(count):
        table: dict[str, Any] = {"name": f"conv{place}", "maps": 2, "kernel": 3, "pad": 1}
        table |= {"relu": bool(rng.integers(2)), "trainable": bool(rng.integers(2))}
        if place > 1 and rng.integers(3) == 0:
            table["input"] = f"conv{rng.integers(place)}"
        if place and rng.integers(2):
            table["add"] = f"conv{rng.integers(place)}"
        if rng.integers(3) == 0:
            table["pool"] = {"kind": "max", "window": 3, "stride": 1, "pad": 1}
        tables.append(table)
    last = {"name": f"fc{count}", "maps": CLASSES, "relu": False}
    return [*tables, last | {"trainable": bool(rng.integers(2))}]


def random_network(seed: int) -> Network:
    """The first random network whose deltas can be propagated, with a frozen layer."""
    rng = np.random.default_rng([57, seed])
    while True:
        layers = random_layers(rng)
        tables = {"network": {"name": "random", "input": SIZE}, "layer": layers}
        try:
            network = network_of("random.toml", tables)
        except BadInput:  # an output that nothing takes, or all layers frozen
            continue
        if any(not layer.trainable for layer in network.layers):
            return network


def restored(
    network: Network, old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Sequence[Any]]:
    """The arrays after a step, those of frozen layers before it."""
    return {each.name: (new if each.trainable else old)[each.name] for each in network.layers}


def check(network: Network, arithmetic: Any, model: Any, images: Any, rates: Any) -> None:
    """Train two steps, both ways."""
    whole = model
    for _ in range(2):
        done = arithmetic.train_step(network, model, images, LABELS, rates)
        undone = arithmetic.train_step(thawed(network), whole, images, LABELS, rates)
        assert done.loss == undone.loss
        model = done.model
        whole = replace(
            whole,
            parameters=restored(network, whole.parameters, undone.model.parameters),
            velocities=restored(network, whole.velocities, undone.model.velocities),
        )
        for part in ("parameters", "velocities"):
            found, wanted = getattr(model, part), getattr(whole, part)
            assert found.keys() == wanted.keys()
            for name, both in wanted.items():
                for got, golden in zip(found[name], both, strict=True):
                    np.testing.assert_array_equal(got, golden, err_msg=f"{name} {part}")


@pytest.mark.parametrize("seed", [*range(8), *in_full(*range(8, SEEDS))])
def test_a_step_in_floats(seed: int) -> None:
    network = random_network(seed)
    values = np.random.default_rng(seed).uniform(0, 1, (IMAGES, 4, 4, 2))
    rates = rates_of(0.1, IMAGES, network.fmt, momentum=0.5, weight_decay=0.02)
    model = training.initial_model(network, seed)
    check(network, training, model, to_bits(values, network.fmt), rates)


def test_the_random_networks_have_every_case() -> None:
    """Layers without DP behind others, frozen layers with DP, and additions of frozen outputs."""
    cases = set()
    for network in map(random_network, range(SEEDS)):
        for place, layer in enumerate(network.layers):
            propagates = receiver(network, layer) is not None
            adds = layer.add is not None and not network.layer(layer.add).trainable
            cases.add((place > 0, layer.trainable, propagates, adds))
    wanted = {(True, *each) for each in np.ndindex(2, 2, 2)}
    assert cases >= wanted


@pytest.mark.parametrize("frozen", [("conv0",), ("conv1",), ("conv0", "conv1"), ("fc2",)])
def test_a_step_in_fixed_point(frozen: tuple[str, ...]) -> None:
    tables = [
        {"name": "conv0", "maps": 3, "kernel": 3, "pad": 1},
        {
            "name": "conv1", "maps": 3, "kernel": 3,
            "pool": {"kind": "max", "window": 2, "stride": 2},
        },
        {"name": "fc2", "maps": CLASSES, "relu": False},
    ]  # fmt: skip
    for table in tables:
        table |= {"design": "array", "trainable": table["name"] not in frozen}
    head = {"name": "n", "input": SIZE, "format": "fixed16", "rounding": "stochastic"}
    network = network_of("n", {"network": head, "layer": tables, "design": {"array": ARRAY}})
    values = np.random.default_rng(1).uniform(0, 1, (IMAGES, 4, 4, 2))
    model, rates = fixed_training.initial_model(network, 1), RATES
    images = to_words(values, network.fixed.input).words
    done = fixed_training.train_step(network, model, images, LABELS, rates)
    undone = fixed_training.train_step(thawed(network), model, images, LABELS, rates)
    for layer in network.layers:
        for got, golden, old in zip(
            done.model.parameters[layer.name],
            undone.model.parameters[layer.name],
            model.parameters[layer.name],
            strict=True,
        ):
            np.testing.assert_array_equal(got, golden if layer.trainable else old)
            assert layer.trainable == bool((got != old).any())
    assert {name for name, each in done.vanished.items() if not each.words} == set(frozen)
