"""What a paper prints, by class of reproduction: each says how near ours must be, or how far off.

Printed numbers are given as their text, whose digits tell how they were rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.comparison.printed import Printed

SLACK = 0.01
"""Beyond the residual of a fit; ours is off by more than this where nothing is reproduced."""

READING = 0.1
"""Of a reading that was chosen after the number was seen."""


@dataclass(frozen=True)
class Place:
    """Where a paper prints what follows."""

    place: str

    def exact(
        self,
        what: str,
        unit: str,
        printed: str,
        found: float,
        why: str = "",
        operands: float = 0.0,
    ) -> Printed:
        """Class E: equal within half of the last printed digit.

        ``operands``: relative rounding of printed numbers that ours was computed from.
        """
        digits = len(printed.partition(".")[2])
        within = (0.5 * 10.0**-digits + 1e-9) / float(printed) + operands
        return self._printed(what, unit, printed, found, "E", within, why)

    def claims(self, what: str, *, holds: bool, why: str) -> Printed:
        """Class E: what is said without a number of its own, 1 where it is so."""
        return self._printed(what, "holds", "1", float(holds), "E", 0, why)

    def follows(
        self, what: str, unit: str, printed: str, found: float, error: float, why: str = ""
    ) -> Printed:
        """Class D: at the relative error that is stated."""
        return self._printed(what, unit, printed, found, "D", error, why)

    def fitted(
        self, what: str, unit: str, printed: str, found: float, residual: float, why: str = ""
    ) -> Printed:
        """Class F: within the residual of the fit and a little more."""
        return self._printed(what, unit, printed, found, "F", residual + SLACK, why)

    def read_as(self, what: str, unit: str, printed: str, found: float, why: str) -> Printed:
        """Class P."""
        return self._printed(what, unit, printed, found, "P", READING, why)

    def fails(self, what: str, unit: str, printed: str, found: float | None, why: str) -> Printed:
        """Class N."""
        return self._printed(what, unit, printed, found, "N", SLACK, why)

    def _printed(
        self,
        what: str,
        unit: str,
        printed: str,
        found: float | None,
        cls: str,
        within: float,
        why: str,
    ) -> Printed:
        return Printed(
            place=self.place,
            what=what,
            unit=unit,
            printed=float(printed),
            found=found,
            cls=cls,
            within=within,
            why=why,
        )
