"""Random models: what is imported is planned, and formula and walk agree."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import onnx_models as made
from counted_networks import check_counts, check_plan, on_one_design
from marks import few
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.network.network_file import network_of
from merp.models.onnx.import_model import import_model
from merp.tools.common.boards import open_board
from needed_tools import needs

pytestmark = needs("onnx")


def check_random(seed: int, folder: Path) -> None:
    """Import, plan on a board, and see that formula and walk agree."""
    model = made.random_model(Random(f"network {seed}"))
    imported = import_model(made.saved(folder, model))
    assert network_of("again", imported.tables) == imported.network
    assert set(imported.network.weights) == {layer.name for layer in imported.layers}
    check_counts(plan(imported.network, open_board("kc705"), 2).network)


def check_branches(seed: int, folder: Path) -> None:
    """The same of layers that branch and are added."""
    model = made.random_branches(Random(f"branches {seed}"))
    imported = import_model(made.saved(folder, model))
    assert network_of("again", imported.tables) == imported.network
    additions = [node for node in model.graph.node if node.op_type == "Add"]
    layers = imported.network.layers
    assert len(additions) == sum(layer.add is not None for layer in layers)
    assert imported.left == ()
    check_counts(on_one_design(imported))
    check_plan(imported)


def check_fires(seed: int, folder: Path) -> None:
    """The same of layers whose maps are joined, and of poolings of their own."""
    model = made.random_fires(Random(f"fires {seed}"))
    imported = import_model(made.saved(folder, model))
    assert network_of("again", imported.tables) == imported.network
    layers = imported.network.layers
    joined = {layer.input for layer in layers if isinstance(layer.input, tuple)}
    assert len(joined) == sum(node.op_type == "Concat" for node in model.graph.node)
    weighted = {layer.name for layer in layers if not layer.only_pools}
    assert set(imported.network.weights) == weighted
    check_counts(on_one_design(imported))
    check_plan(imported)


@pytest.mark.parametrize("check", [check_random, check_branches, check_fires])
@pytest.mark.parametrize("seed", few(range(24), 0, 3, 6, 9))
def test_random_networks_count(
    seed: int, check: Callable[[int, Path], None], tmp_path: Path
) -> None:
    check(seed, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("check", [check_random, check_branches, check_fires])
@pytest.mark.parametrize("part", range(40))
def test_a_thousand_random_networks_count(
    part: int, check: Callable[[int, Path], None], tmp_path: Path
) -> None:
    for seed in range(24 + 25 * part, 24 + 25 * (part + 1)):
        check(seed, tmp_path)
