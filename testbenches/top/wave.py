"""The waveform that a simulation writes: its file, its format and its part of the design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from merp.hdl.conversion.scope import Scope
from merp.models.base.errors import BadInput
from merp.models.base.given import given

KINDS = ("vcd", "fst")
EVERYTHING = "all"
"""Selects the whole design. It is a keyword of VHDL, so no instance has this name."""


@dataclass(frozen=True)
class Wave:
    """A waveform of the ports of a top and, if requested, of one of its instances.

    Attributes:
        path: the file; its suffix is the kind, one of ``KINDS``.
        below: names of instances from the top down to the instance that is shown, with all
            instances inside it. () shows the whole design, None only the ports.
    """

    path: Path
    below: tuple[str, ...] | None = None

    @classmethod
    def of(cls, path: Path, part: str | None) -> Wave:
        """Parse ``part``: a path with dots, ``all``, or None for the ports only."""
        if part is None:
            return cls(path)
        return cls(path, () if part == EVERYTHING else tuple(part.split(".")))

    @property
    def kind(self) -> str:
        """One of ``KINDS``."""
        return self.path.suffix[1:]

    def scope(self, top: Scope) -> Scope | None:
        """Find the instance that is shown in addition to the ports, in the tree of the design.

        Raises:
            BadInput: there is no such instance.
        """
        return None if self.below is None else _found(top, self.below)


def _found(scope: Scope, path: Sequence[str]) -> Scope:
    for depth, name in enumerate(path):
        if name not in scope.inside:
            where = ".".join(path[:depth]) or "the top"
            names = ", ".join(scope.inside)
            allowed = f"allowed: {names}" if names else "it has none"
            raise BadInput(
                f"{given('wave_of', '.'.join(path))}: no instance {name!r} in {where}: {allowed}"
            )
        scope = scope.inside[name]
    return scope
