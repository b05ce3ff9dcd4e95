"""``merp explore``: find the Pareto-optimal designs of a network on a board."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merp.cosim.machines.loader import having
from merp.models.base.errors import BadInput
from merp.models.explore.point import names_of, numbered
from merp.models.network.network_keys import COMBINED, SEPARATE
from merp.models.network.registry import other_names
from merp.tools.common import fields
from merp.tools.common.fields import BATCH, MOST_BATCH
from merp.tools.common.kinds import OneOf, Repeated, Text, WholeOption
from merp.tools.common.output import Output
from merp.tools.common.request import Being, option
from merp.tools.common.scope import scope_field, scope_of
from merp.tools.common.shipped import open_network
from merp.tools.common.table import say
from merp.tools.explore.explorer import ENUMERATE, EXACT, NSGA2, SEARCH, Explorer
from merp.tools.explore.folder import check_folder

if TYPE_CHECKING:  # NumPy is imported only if needed
    from merp.models.network.network import Network
    from merp.tools.explore.found import FoundFront

EXPLORERS: Mapping[str, Explorer] = having("explorer")
"""Explorers by the machine's name; the first is the default."""

USUAL = next(iter(EXPLORERS))
DESIGNS = (Being("architecture", (USUAL,)),)


def searched(name: str, low: int, high: int) -> Any:
    """Declare an option of the genetic search."""
    return option(
        WholeOption(low, high), f"for nsga2 (default {SEARCH[name]})", metavar="N",
        needs=(Being("method", (NSGA2,)),),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(fields.Tables):
    """The options of the verb."""

    network: str = fields.network()
    board: str = fields.board()
    architecture: str = option(
        OneOf(EXPLORERS, other_names()), "architecture of the designs", default=USUAL
    )
    objectives: str = option(
        Text(),
        "quantities to minimise, separated by commas: cycles, bytes, lut, ff, bram, dsp "
        "(pipeline: cycles, lut, bram, dsp; default %(default)s)",
        default="cycles,lut",
        metavar="NAMES",
    )
    limit: tuple[str, ...] = option(
        Repeated(Text()),
        "upper limit of an objective, in addition to the board's; may be repeated (default: none)",
        default=(),
        metavar="KEY=VALUE",
    )
    scope: str = scope_field()
    batch: int | None = option(
        WholeOption(1, MOST_BATCH),
        f"images of a step (default {BATCH}; pipeline: one sample at a time)",
        metavar="IMAGES",
        needs=DESIGNS,
    )
    goal: str | None = fields.goal("", needs=DESIGNS)
    method: str = option(
        OneOf((EXACT, ENUMERATE, NSGA2)),
        "exact: finds every point; enumerate: the same by pricing every design (pipeline only); "
        "nsga2: a genetic search with pymoo (pip install 'merp[search]') (default %(default)s)",
        default=EXACT,
    )
    population: int | None = searched("population", 4, 10_000)
    generations: int | None = searched("generations", 1, 100_000)
    seed: int | None = searched("seed", 0, 1 << 31)
    point: tuple[int, ...] = option(
        Repeated(WholeOption(0, 1 << 16)),
        "also write and show this point of the front; may be repeated (default: none)",
        default=(),
        metavar="N",
    )
    output: Path | None = fields.output(
        "folder",
        "network files of the knee and of the least of each objective, and the front as JSON and "
        "CSV (default: none)",
    )
    all: bool = fields.shows_more("print every point of the front")
    details: bool = fields.shows_more("print the designs of the named points")

    @property
    def images(self) -> int:
        """Images of a step, with the default."""
        return self.batch or BATCH


REQUEST = ExploreOptions


def run(asked: ExploreOptions) -> int:
    """Print the front, or write it."""
    network = open_network(asked.network)
    if network.backward == COMBINED:
        raise BadInput(
            f'{asked.network}: backward = "{COMBINED}": designs are priced with separate backward '
            f'passes: allowed is backward = "{SEPARATE}"'
        )
    scope = scope_of(network, asked.scope)
    objectives = tuple(dict.fromkeys(asked.objectives.split(",")))
    with ExitStack() as held:
        output = None
        if asked.output is not None:
            output = held.enter_context(Output.of_folder("-o", asked.output))
            names = [*names_of(objectives), *map(numbered, asked.point)]
            check_folder(asked.output, network, names)
        found, networks = _front(asked, network, scope, objectives)
        if output is not None:
            files = found.files(networks)
            output.write(files)
    if asked.json:
        print(json.dumps(found.json(), indent=2))
        return 0
    from merp.tools.explore.tables import show

    show(found, whole=asked.all, details=asked.details)
    if asked.output is not None:
        say(f"{asked.output}: {', '.join(files)}")
    return 0


def _front(
    asked: ExploreOptions, network: Network, scope: tuple[str, ...], objectives: tuple[str, ...]
) -> tuple[FoundFront, dict[int, str]]:
    """Return the front of the machine's designs, and network files of its notable points by place.

    Raises:
        BadInput: the machine does not know the method, or as for ``Explorer.front``.
    """
    explorer = EXPLORERS[asked.architecture]
    if asked.method not in explorer.methods:
        able = [name for name, each in EXPLORERS.items() if asked.method in each.methods]
        raise BadInput(
            f"--method {asked.method}: allowed only with --architecture {' or '.join(able)}"
        )
    return explorer.front(asked, network, scope, objectives)
