"""One script of a user trains on each kind of device, with the bits of the golden model."""

import json
import os
import site
import socket
import subprocess
import venv
from pathlib import Path

import pytest
from device_script import train
from simulated_hardware import litex, uio

import merp
from checkout import ROOT
from needed_tools import needs

PYNQ = "pynq==4.0.0", "numpy<2"
"""What an environment with PYNQ needs; the rest is that of the tests."""

PYNQ_SESSION = """
import json
from device_script import train
from simulated_pynq import SimulatedPynq
print(json.dumps(train(SimulatedPynq())))
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.mark.full
@pytest.mark.verilator
@needs("litedram")
@pytest.mark.parametrize("kind", ["simulated", "uio", "litex"])
def test_a_script_trains_on_each_device(kind: str, tmp_path: Path) -> None:
    if kind == "simulated":
        device = merp.SimulatedDevice()
    else:
        device = uio(tmp_path) if kind == "uio" else litex(free_port())
    assert train(device) == train()


@pytest.mark.full
@pytest.mark.verilator
@needs("litedram")
def test_the_script_trains_with_the_classes_of_pynq(tmp_path: Path) -> None:
    """In an environment of its own, because PYNQ needs NumPy below 2."""
    venv.create(tmp_path / "pynq", with_pip=True)
    python = tmp_path / "pynq" / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", *PYNQ]
    subprocess.run(command, check=True, timeout=600)
    (own,) = (tmp_path / "pynq" / "lib").glob("*/site-packages")
    others = "; ".join(f"site.addsitedir({each!r})" for each in site.getsitepackages())
    (own / "others.pth").write_text(f"import site; {others}\n")
    house = ROOT / "tests" / "house"
    ended = subprocess.run(
        [python, "-W", "ignore", "-c", PYNQ_SESSION],
        env={**os.environ, "PYTHONPATH": str(house)},
        capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == train()
