"""Fields that requests of several verbs have, each declared here once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from merp.models.base.state_field import STATES
from merp.models.network.network_keys import BACKWARD, FORMER_BACKWARD
from merp.models.network.phases import known_phases
from merp.models.network.planning import FITS, GOALS
from merp.models.network.registry import architectures, other_names, runners
from merp.tools.common.kinds import Flag, Named, OneOf, Text, WholeOption, Written
from merp.tools.common.request import Being, option

MOST_BATCH = 1 << 16
"""Images of a step."""

BATCH = 128
"""The same, where none is asked for."""

MOST_SEED = (1 << 32) - 1

PHASE = "fp"
"""That which is meant where none is asked for."""

ALL = "all"

DELTAS = ("sums", "pooled")

STATE: Final = "pooled"
"""Kind of state that a plan keeps, where none is asked for."""


def network(**more: Any) -> Any:
    """NETWORK, a shipped name, a TOML file or an ONNX model."""
    says = "a shipped network's name, a TOML file or an ONNX model"
    return option(Text(), says, "NETWORK", **{"required": True, **more})


def as_json(help: str, **more: Any) -> Any:
    """``--json``."""
    return option(Flag(), help, "--json", last=True, **more)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A request that is answered in JSON or for people."""

    json: bool = as_json("print JSON for programs")


@dataclass(frozen=True, kw_only=True)
class Tables:
    """One whose answer for people is in tables."""

    json: bool = as_json("print JSON instead of tables", group="form")
    wide: bool = option(
        Flag(),
        "print each table in one piece on a narrow terminal too, as into a file",
        group="form",
        last=True,
    )


def answered(asked: Answer | Tables, answer: Mapping[str, Any], show: Callable[[], object]) -> int:
    """Print an answer as JSON, or have ``show`` print it; the status of a verb that is done."""
    if asked.json:
        import json

        print(json.dumps(answer, indent=2))
    else:
        show()
    return 0


def output(place: str, help: str, *options: str, metavar: str = "DIR", **more: Any) -> Any:
    """What is written: ``-o`` if no ``options`` are named; ``place`` is ``folder`` or ``file``."""
    return option(Written(place), help, *(options or ("-o", "--output")), metavar=metavar, **more)


def batch(**more: Any) -> Any:
    """``--batch``, of a verb that counts."""
    more = {"default": BATCH, "metavar": "IMAGES", **more}
    return option(
        WholeOption(1, MOST_BATCH), "images of a step",
        says=f"images of a step, 1 to {MOST_BATCH}.", **more,
    )  # fmt: skip


def board(default: str | None = None, **more: Any) -> Any:
    """``--board``, which must be given where nothing is said of a ``default``."""

    def says() -> str:
        from merp.tools.common.boards import board_names  # only help pages list them

        shipped = f"a shipped board ({', '.join(board_names())}) or a TOML file"
        return shipped if default is None else f"{shipped} (default: {default})"

    return option(Named(), says, metavar="BOARD", required=default is None, **more)


def backward(**more: Any) -> Any:
    """``--backward``; what is not given is None."""
    return option(
        OneOf(BACKWARD.allowed, FORMER_BACKWARD),
        "delta propagation and kernel update of a convolution: separate passes, or one with the "
        "same bits (default: as the network says)",
        **more,
    )


def delta_at(**more: Any) -> Any:
    """``--delta-at``."""
    return option(
        OneOf(DELTAS),
        "resolution of deltas in memory for dp and ku (default sums, as in the paper; of the way "
        "back in one pass pooled)",
        says="resolution of deltas in memory, ``sums`` or ``pooled`` (default ``pooled`` for the "
        "combined backward pass, else ``sums``).",
        **more,
    )


def phase(*others: str, help: str, **more: Any) -> Any:
    """``--phase``: one that hardware runs, or one of ``others``; what is not given is None."""
    both = "ff: fp of two fused layers; bp: dp and ku in one"
    return option(OneOf(lambda: (*known_phases(), *others)), f"{both}; {help}", **more)


def state(help: str = "", **more: Any) -> Any:
    """``--state``; ``help``: what is said behind."""
    says = "``fp`` also writes the state for the backward phases."
    both = "fp also writes the state for backward propagation"
    return option(Flag(), f"{both}{help}", **{"says": says, **more})


def goal(help: str = "; the other one decides between equals", **more: Any) -> Any:
    """``--for``; what is not given is None. ``help``: what is said behind."""
    return option(OneOf(GOALS), f"what tiles are chosen for{help} (default bytes)", "--for", **more)


def apart(**more: Any) -> Any:
    """``--apart``."""
    return option(
        Flag(), "bitstreams for each layer alone: fewer bytes, more bitstreams to load", **more
    )


def plan_state(**more: Any) -> Any:
    """``--state-bits`` of a plan; what is not given is None."""
    return option(
        OneOf(STATES),
        "state kept for ReLU' and un-pooling; pooled: deltas are stored pooled, too "
        f"(default {STATE})",
        **more,
    )


def fit(default: str, **more: Any) -> Any:
    """``--fit``."""
    return option(
        OneOf(FITS),
        "CNN-MERP's designs: the quickest of those sized for the board and those of the network "
        "file, or the file's (default %(default)s)",
        default=default,
        **more,
    )


def architecture(help: str, default: str | None = None, **more: Any) -> Any:
    """``--architecture``; ``help``: what is said behind the machines that it may name."""
    lines = {each.name: each.says for each in runners()}
    return option(
        OneOf(architectures(), other_names()),
        f"{'; '.join(f'{name}: {says}' for name, says in lines.items())} ({help})",
        default=default,
        says=f"{'; '.join(f'``{name}``, {says}' for name, says in lines.items())} ({help}).",
        **more,
    )


def of_machine(name: str, help: str, says: str = "", **more: Any) -> Any:
    """An option that some machines alone take. Their records have its limits and its default.

    Args:
        name: of the field, as the records have it. help, says: as of ``option``; ``{low}``,
            ``{high}`` and ``{default}`` stand for what the first of the machines has.
    """
    taking = [each for each in runners() if name in each.options]
    found = taking[0].options[name]
    number = {} if found.default is None else {"metavar": "N"}
    needs = (Being("architecture", tuple(each.name for each in taking)),)
    return option(
        WholeOption(found.low, found.high) if number else Flag(),
        help.format(**found._asdict()),
        says=says.format(**found._asdict()),
        **{"needs": needs, **number, **more},
    )


def depth(**more: Any) -> Any:
    """``--depth`` of machines that run all layers at once."""
    return of_machine(
        "depth", "images on their way at most (default {default})",
        "images on their way at most, {low} to {high} (default {default}).", **more,
    )  # fmt: skip


def devices(**more: Any) -> Any:
    """``--devices`` of machines on several boards."""
    return of_machine(
        "devices", "boards (default {default})",
        "boards of the chain, {low} to {high} (default {default}).", **more,
    )  # fmt: skip


def seed(help: str, default: int | None = 0, **more: Any) -> Any:
    """``--seed``."""
    return option(WholeOption(0, MOST_SEED), help, metavar="S", default=default, **more)
