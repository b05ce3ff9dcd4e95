"""Measure how fast this machine computes and simulates: ``make bench``.

Every figure is the best of its repetitions in this one run, with the machine named beside it;
ratios between figures are worth more than the figures. Each is shown, and kept in
``build/bench.json``, as soon as it is there.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import array_step
import elaboration
import layers
import old_myhdl
import planning
import training
import verified_rows
import waiting
from measured import Ratio, Seconds, best, machine
from merp.models.traffic.closed_form import network_traffic
from merp.tools.common.shipped import open_network
from merp.tools.common.table import fixed

RESULT = Path("build/bench.json")


def traffic() -> Iterator[Seconds]:
    """The closed form, all layers and phases."""
    for name in ("alexnet", "vgg16"):
        network = open_network(name)
        seconds = best(lambda network=network: network_traffic(network, 128), 20)
        yield Seconds(f"closed form of {name}", seconds)


def figures() -> Iterator[Seconds | Ratio]:
    """Everything, what is quickly measured first."""
    yield from traffic()
    yield from waiting.figures()
    yield from planning.figures()
    yield from verified_rows.figures()
    yield from elaboration.figures()
    try:
        yield from training.figures()
    except ImportError:
        print("training beside PyTorch: not measured: pip install 'merp[bench]'", flush=True)
    yield from old_myhdl.figures()
    yield from array_step.figures()
    yield from layers.figures()


def main() -> None:
    """Measure, print and keep."""
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    answer: dict[str, Any] = {"machine": machine(), "seconds": {}, "ratios": {}}
    print(", ".join(f"{key}: {value}" for key, value in answer["machine"].items()), flush=True)
    RESULT.parent.mkdir(exist_ok=True)
    for each in figures():
        if isinstance(each, Ratio):
            answer["ratios"][each.name] = each.value
            print(f"{each.name:<52}{fixed(each.value, 2):>10} times  {each.note}", flush=True)
        else:
            answer["seconds"][each.name] = each.value
            print(f"{each.name:<52}{fixed(each.value, 4):>10} s      {each.note}", flush=True)
        RESULT.write_text(json.dumps(answer, indent=2) + "\n")


if __name__ == "__main__":
    main()
