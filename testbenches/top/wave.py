"""Which waveform a simulation leaves: where, of what kind, and of which part of the design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from merp.hdl.conversion.scope import Scope
from merp.models.base.errors import BadInput
from merp.models.base.given import given

KINDS = ("vcd", "fst")
EVERYTHING = "all"
"""In place of a path: a keyword of VHDL, so no instance goes by it."""


@dataclass(frozen=True)
class Wave:
    """A waveform of the ports of a top, and of what is below one of its instances.

    Attributes:
        path: the file; its suffix is the kind, one of ``KINDS``.
        below: names of instances from the top down to the one that is shown with everything inside;
            () is the whole design, None the ports alone.
    """

    path: Path
    below: tuple[str, ...] | None = None

    @classmethod
    def of(cls, path: Path, part: str | None) -> Wave:
        """The waveform of a part as people name it: a path with dots, ``all``, None for ports."""
        if part is None:
            return cls(path)
        return cls(path, () if part == EVERYTHING else tuple(part.split(".")))

    @property
    def kind(self) -> str:
        """One of ``KINDS``."""
        return self.path.suffix[1:]

    def scope(self, top: Scope) -> Scope | None:
        """What is shown beside the ports, in the tree of the design.

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
