"""``merp explore``: designs for a network on a board that no other beats."""

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

if TYPE_CHECKING:  # NumPy waits
    from merp.models.network.network import Network
    from merp.tools.explore.found import FoundFront

EXPLORERS: Mapping[str, Explorer] = having("explorer")
"""By the machine's name; the first is meant where none is named."""

USUAL = next(iter(EXPLORERS))
DESIGNS = (Being("architecture", (USUAL,)),)


def searched(name: str, low: int, high: int) -> Any:
    """A field of the genetic search."""
    return option(
        WholeOption(low, high), f"of nsga2 (default {SEARCH[name]})", metavar="N",
        needs=(Being("method", (NSGA2,)),),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(fields.Tables):
    """The options of the verb."""

    network: str = fields.network()
    board: str = fields.board()
    architecture: str = option(OneOf(EXPLORERS, other_names()), "whose designs", default=USUAL)
    objectives: str = option(
        Text(),
        "what is to be small, with commas: cycles, bytes, lut, ff, bram, dsp (pipeline: cycles, "
        "lut, bram, dsp; default %(default)s)",
        default="cycles,lut",
        metavar="NAMES",
    )
    limit: tuple[str, ...] = option(
        Repeated(Text()),
        "the most of an objective, beside what the board has; again for another (default: none)",
        default=(),
        metavar="KEY=VALUE",
    )
    scope: str = scope_field()
    batch: int | None = option(
        WholeOption(1, MOST_BATCH),
        f"images of a step (default {BATCH}; pipeline: a sample at a time)",
        metavar="IMAGES",
        needs=DESIGNS,
    )
    goal: str | None = fields.goal("", needs=DESIGNS)
    method: str = option(
        OneOf((EXACT, ENUMERATE, NSGA2)),
        "exact: no point is missing; enumerate: the same by pricing every design, of pipeline; "
        "nsga2: a genetic search, which needs pymoo (pip install 'merp[search]') (default "
        "%(default)s)",
        default=EXACT,
    )
    population: int | None = searched("population", 4, 10_000)
    generations: int | None = searched("generations", 1, 100_000)
    seed: int | None = searched("seed", 0, 1 << 31)
    point: tuple[int, ...] = option(
        Repeated(WholeOption(0, 1 << 16)),
        "this point of the front is written, too, and shown; may be given several times (default: "
        "none)",
        default=(),
        metavar="N",
    )
    output: Path | None = fields.output(
        "folder",
        "network files of the knee and of the least of each objective, and the front as JSON and "
        "CSV (default: none)",
    )

    @property
    def images(self) -> int:
        """Of a step, as asked for or by default."""
        return self.batch or BATCH


REQUEST = ExploreOptions


def run(asked: ExploreOptions) -> int:
    """Print the front, or write it."""
    network = open_network(asked.network)
    if network.backward == COMBINED:
        raise BadInput(
            f'{asked.network}: backward = "{COMBINED}": designs are priced with both backward '
            f'phases apart: allowed is backward = "{SEPARATE}"'
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

    show(found)
    if asked.output is not None:
        say(f"{asked.output}: {', '.join(files)}")
    return 0


def _front(
    asked: ExploreOptions, network: Network, scope: tuple[str, ...], objectives: tuple[str, ...]
) -> tuple[FoundFront, dict[int, str]]:
    """The front of the machine's designs, and network files of its notable points, by place.

    Raises:
        BadInput: the machine does not know the method, or as its ``Explorer.front``.
    """
    explorer = EXPLORERS[asked.architecture]
    if asked.method not in explorer.methods:
        able = [name for name, each in EXPLORERS.items() if asked.method in each.methods]
        raise BadInput(
            f"--method {asked.method}: allowed only with --architecture {' or '.join(able)}"
        )
    return explorer.front(asked, network, scope, objectives)
