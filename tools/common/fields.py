"""Fields that the requests of several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from merp.models.base.state_field import STATES
from merp.models.network.network_keys import BACKWARD, FORMER_BACKWARD
from merp.models.network.phases import known_phases
from merp.models.network.planning import FITS, GOALS
from merp.models.network.registry import architectures, designers, other_names, runners
from merp.tools.common.kinds import Flag, Named, OneOf, Text, WholeOption, Written
from merp.tools.common.request import Being, option

MOST_BATCH = 1 << 16
"""Largest number of images of a step."""

BATCH = 128
"""Default number of images of a step."""

MOST_SEED = (1 << 32) - 1

PHASE = "fp"
"""Default phase."""

ALL = "all"

DELTAS = ("sums", "pooled")

STATE: Final = "pooled"
"""Default kind of the ReLU/pooling mask that a plan keeps."""


def network(**more: Any) -> Any:
    """Declare NETWORK: a shipped name, a TOML file or an ONNX model."""
    says = "name of a shipped network, a TOML file or an ONNX model"
    return option(Text(), says, "NETWORK", **{"required": True, **more})


def as_json(help: str, **more: Any) -> Any:
    """Declare ``--json``."""
    return option(Flag(), help, "--json", last=True, **more)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A request whose answer is JSON or text for people."""

    json: bool = as_json("print JSON for programs")


@dataclass(frozen=True, kw_only=True)
class Tables:
    """A request whose answer is JSON or tables for people."""

    json: bool = as_json("print JSON instead of tables", group="form")
    wide: bool = option(
        Flag(),
        "print each table in one piece, on a narrow terminal too",
        group="form",
        last=True,
    )


def answered(asked: Answer | Tables, answer: Mapping[str, Any], show: Callable[[], object]) -> int:
    """Print an answer as JSON, or let ``show`` print it; return status 0."""
    if asked.json:
        import json

        print(json.dumps(answer, indent=2))
    else:
        show()
    return 0


def shows_more(help: str, *without: Being) -> Any:
    """Declare a flag that prints more than the first screen. JSON always has everything."""
    return option(Flag(), help, without=(Being("json"), *without))


def output(place: str, help: str, *options: str, metavar: str = "DIR", **more: Any) -> Any:
    """Declare an output path, ``-o`` if no ``options`` are named.

    ``place`` is ``folder``, ``package`` or ``file``, as in ``Written``.
    """
    return option(Written(place), help, *(options or ("-o", "--output")), metavar=metavar, **more)


def batch(**more: Any) -> Any:
    """Declare ``--batch`` of a verb that counts traffic."""
    more = {"default": BATCH, "metavar": "IMAGES", **more}
    return option(
        WholeOption(1, MOST_BATCH), "images of a step",
        says=f"images of a step, 1 to {MOST_BATCH}.", **more,
    )  # fmt: skip


def board(default: str | None = None, **more: Any) -> Any:
    """Declare ``--board``, which is required if it has no ``default``."""

    def says() -> str:
        from merp.tools.common.boards import board_names  # only help pages list them

        shipped = f"a shipped board ({', '.join(board_names())}) or a TOML file"
        return shipped if default is None else f"{shipped} (default: {default})"

    return option(Named(), says, metavar="BOARD", required=default is None, **more)


def backward(**more: Any) -> Any:
    """Declare ``--backward``; the default is None."""
    return option(
        OneOf(BACKWARD.allowed, FORMER_BACKWARD),
        "delta propagation and kernel update of a convolution in separate passes or in one, with "
        "the same bits (default: as the network file says)",
        **more,
    )


def delta_at(**more: Any) -> Any:
    """Declare ``--delta-at``."""
    return option(
        OneOf(DELTAS),
        "resolution of deltas in memory for dp and ku (default: sums, as in the paper; pooled for "
        "the combined backward pass)",
        says="resolution of deltas in memory, ``sums`` or ``pooled`` (default ``pooled`` for the "
        "combined backward pass, else ``sums``).",
        **more,
    )


def phase(*others: str, help: str, **more: Any) -> Any:
    """Declare ``--phase``: a phase of the hardware, or one of ``others``; the default is None."""
    both = "ff: fp of two fused layers; bp: dp and ku in one pass"
    return option(OneOf(lambda: (*known_phases(), *others)), f"{both}; {help}", **more)


def state(help: str = "", **more: Any) -> Any:
    """Declare ``--state``; ``help`` is appended to the help text."""
    says = "``fp`` also writes the ReLU/pooling mask for the backward phases."
    both = "fp also writes the ReLU/pooling mask for backward propagation"
    return option(Flag(), f"{both}{help}", **{"says": says, **more})


def goal(help: str = "; the other decides between equal ones", **more: Any) -> Any:
    """Declare ``--for``; the default is None. ``help`` is appended to the help text."""
    return option(
        OneOf(GOALS), f"optimise the tiles for this{help} (default bytes)", "--for", **more
    )


def apart(**more: Any) -> Any:
    """Declare ``--apart``."""
    return option(
        Flag(), "separate bitstreams for each layer: fewer bytes, more bitstreams to load", **more
    )


def plan_state(**more: Any) -> Any:
    """Declare ``--state-bits`` of a plan; the default is None."""
    return option(
        OneOf(STATES),
        "stored form of the ReLU/pooling mask; with pooled, deltas are stored pooled, too "
        f"(default {STATE})",
        **more,
    )


def fit(default: str, **more: Any) -> Any:
    """Declare ``--fit``."""
    return option(
        OneOf(FITS),
        "CNN-MERP's designs: shipped takes those of the network file; best takes the quickest of "
        "these and of designs sized for the board (default %(default)s)",
        default=default,
        **more,
    )


def architecture(help: str, default: str | None = None, **more: Any) -> Any:
    """Declare ``--architecture``; ``help`` follows the list of the machines."""
    lines = {each.name: each.says for each in (*designers(), *runners())}
    return option(
        OneOf(architectures(), other_names()),
        f"{'; '.join(f'{name}: {says}' for name, says in lines.items())} ({help})",
        default=default,
        says=f"{'; '.join(f'``{name}``, {says}' for name, says in lines.items())} ({help}).",
        **more,
    )


def own_designs(help: str, **more: Any) -> Any:
    """Declare ``--architecture`` of verbs that run layers one after the other; see
    ``architecture``.
    """
    lines = {each.name: each.says for each in designers()}
    return option(
        OneOf(tuple(lines)),
        f"{'; '.join(f'{name}: {says}' for name, says in lines.items())} ({help})",
        says=f"{'; '.join(f'``{name}``, {says}' for name, says in lines.items())} ({help}).",
        **more,
    )


def of_machine(name: str, help: str, says: str = "", **more: Any) -> Any:
    """Declare an option that only some machines take, with limits and default of their records.

    Args:
        name: name of the field, as in the records.
        help: help text, as for ``option``; ``{low}``, ``{high}`` and ``{default}`` are replaced by
            the values of the first of the machines.
        says: text for Python, with the same replacements.
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
    """Declare ``--depth`` of machines that run all layers concurrently."""
    return of_machine(
        "depth", "images in flight at most (default {default})",
        "images in flight at most, {low} to {high} (default {default}).", **more,
    )  # fmt: skip


def devices(**more: Any) -> Any:
    """Declare ``--devices`` of machines on several boards."""
    return of_machine(
        "devices", "boards (default {default})",
        "boards of the chain, {low} to {high} (default {default}).", **more,
    )  # fmt: skip


def seed(help: str, default: int | None = 0, **more: Any) -> Any:
    """Declare ``--seed``."""
    return option(WholeOption(0, MOST_SEED), help, metavar="S", default=default, **more)
