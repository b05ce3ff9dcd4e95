"""A network whose packages the tests of this folder look at."""

from pathlib import Path

import pytest

from merp.models.network.phases import PHASES
from merp.tools.cli import main

# Names of all characters that are allowed.
NETWORK = """
[network]
name = 'Tiny +.- net'
input = { rows = 7, columns = 6, channels = 3 }

[[layer]]
name = "conv1 +.-_ X"
maps = 3
kernel = 2
pool = { kind = "max", window = 2, stride = 2 }
design = "k2"

[[layer]]
name = "conv2"
maps = 4
kernel = 2
pad = 1
design = "k2"

[design.k2]
k = 2
n_cu = 2
r = 1
d = 2
add_latency = 2
mul_latency = 1
"""


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its file."""
    path = tmp_path_factory.mktemp("network") / "tiny.toml"
    path.write_text(NETWORK, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def exports(network: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The packages of all phases; nobody may write into them."""
    folder = tmp_path_factory.mktemp("all")
    assert main(["export", str(network), "--all", "-o", str(folder)]) == 0
    return {phase: folder / f"tiny-net-k2-{phase}" for phase in PHASES}
