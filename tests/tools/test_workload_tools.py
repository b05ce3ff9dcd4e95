"""SCALE-Sim and ZigZag load our files and count the multiply-adds that we count.

Each is installed from PyPI in an environment of its own that is thrown away: they are no
dependencies, and do not bear each other's versions.
"""

import json
import subprocess
import venv
from pathlib import Path

import pytest

from merp.models.network.network import Layer
from merp.models.network.phases import PHASES
from merp.tools.cli import main
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
BATCH = 128

SCALESIM = """
import json, sys
from scalesim.topology_utils import topologies
topology = topologies()
topology.load_arrays(sys.argv[1])
topology.topo_calc_hyperparams()
macs = [int(topology.get_layer_mac_ops(i)) for i in range(topology.get_num_layers())]
print("macs", json.dumps(macs))
"""

ZIGZAG = """
import json, sys, yaml, zigzag
from pathlib import Path
from zigzag.parser.workload_factory import WorkloadFactory
from zigzag.parser.workload_validator import WorkloadValidator
from zigzag.stages.parser.workload_parser import WorkloadParserStage
default = Path(zigzag.__file__).parent / "inputs" / "mapping" / "default.yaml"
mapping = WorkloadParserStage.parse_mapping_data(str(default))
validator = WorkloadValidator(yaml.safe_load(Path(sys.argv[1]).read_text()))
assert validator.validate(), validator.errors
nodes = WorkloadFactory(validator.normalized_data, mapping).create().node_list
print("macs", json.dumps([int(node.total_mac_count) for node in nodes]))
"""


def layers_of(phase: str) -> tuple[Layer, ...]:
    return ALEXNET.layers[1:] if phase == "dp" else ALEXNET.layers


def counted(folder: Path, packages: list[str], script: str, ending: str) -> dict[str, list[int]]:
    """Multiply-adds by layer and phase, as the tool itself counts them."""
    venv.create(folder / "tool", with_pip=True)
    python = folder / "tool" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    arguments = ["--format", packages[0].partition("-")[0], "--batch", str(BATCH)]
    assert main(["workload", "alexnet", *arguments, "-o", str(folder / "w")]) == 0
    found = {}
    for phase in PHASES:
        command = [python, "-c", script, folder / "w" / f"alexnet-{phase}.{ending}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        [line] = [each for each in done.stdout.splitlines() if each.startswith("macs ")]
        found[phase] = json.loads(line.removeprefix("macs "))
    return found


@pytest.mark.full
def test_scalesim_counts_our_multiply_adds(tmp_path: Path) -> None:
    found = counted(tmp_path, ["scalesim", "numpy<2.4", "pyyaml"], SCALESIM, "csv")
    assert found == {  # of one image; each group is a row
        phase: [each.shape.macs() for each in layers_of(phase) for _ in range(each.groups)]
        for phase in PHASES
    }


@pytest.mark.full
def test_zigzag_counts_our_multiply_adds(tmp_path: Path) -> None:
    found = counted(tmp_path, ["zigzag-dse", "six"], ZIGZAG, "yaml")
    assert found == {
        phase: [each.groups * each.shape.macs(BATCH) for each in layers_of(phase)]
        for phase in PHASES
    }
