"""Try hundreds of hostile inputs, and the cases that once found a fault.

``make fuzz`` runs two hundred times as many.
"""

import json
from pathlib import Path

from kinds import cases
from needed_tools import needs
from ranges import in_processes

SEEDS = json.loads(Path(__file__).with_name("seeds.json").read_text())


@needs("onnx")
def test_nothing_but_one_line_and_the_right_status() -> None:
    """Run all kinds in one process, one after the other: none may affect the next one."""
    known = [(kind, number) for kind, numbers in SEEDS["found"].items() for number in numbers]
    chosen = [*known, *cases(SEEDS["cases"], SEEDS["seed"])]
    found = [part.faults for part in in_processes(chosen, jobs=1)]
    assert [faults for faults in found if faults] == []
