"""``merp formats``: propose fractions for a network in fixed point, from a training in float64."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from merp.models.network.registry import machine_that_runs
from merp.tools.common import fields
from merp.tools.common.fields import MOST_BATCH
from merp.tools.common.kinds import WholeOption
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.request import option
from merp.tools.common.shipped import open_network
from merp.tools.train.names import BATCH
from merp.tools.train.request import data_field, loss_field, momentum_field, rate_field

STEPS = 100


@dataclass(frozen=True, kw_only=True)
class FormatsOptions:
    """The options of the verb."""

    network: str = fields.network()
    data: str = data_field()
    steps: int = option(
        WholeOption(1, 1 << 20), f"steps (default {STEPS})", default=STEPS, metavar="N"
    )
    batch: int = option(
        WholeOption(1, MOST_BATCH), f"images a step (default {BATCH})", default=BATCH, metavar="N"
    )
    learning_rate: float = rate_field()
    momentum: float = momentum_field()
    loss: str = loss_field()
    seed: int = fields.seed("seed (default 0)")
    json: bool = fields.as_json("print JSON (default: TOML)")


REQUEST = FormatsOptions


def run(asked: FormatsOptions) -> int:
    """Train in float64, and print the fractions that the numbers need."""
    network = open_network(asked.network)
    # import slow modules only after the arguments were checked
    from merp.cosim.machines.loader import having
    from merp.tools.train.datasets.labelled import labelled
    from merp.tools.train.formats import FormatRequest, Measure, toml

    wanted = FormatRequest(
        steps=asked.steps,
        batch=asked.batch,
        learning_rate=asked.learning_rate,
        momentum=asked.momentum,
        loss=asked.loss,
        seed=asked.seed,
    )
    found: Mapping[str, Measure] = having("formats")
    own = machine_that_runs(network).name
    measure = found[own] if own in found else next(iter(found.values()))  # the latter refuses
    with ProgressBar("formats", f"{asked.steps:,} steps in float64") as bar:
        answer = measure(network, labelled(asked.data, network), wanted, bar)
    print(json.dumps(answer, indent=2) if asked.json else toml(answer))
    return 0
