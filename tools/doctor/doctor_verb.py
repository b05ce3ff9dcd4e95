"""``merp doctor``: list the requirements of merp, and how to install missing ones."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.errors import CheckFailed
from merp.tools.common import fields


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(fields.Answer):
    """The options of the verb."""


REQUEST = DoctorOptions


def run(asked: DoctorOptions) -> int:
    """Print the examination; return 1 if a required package is missing or not allowed.

    Raises:
        CheckFailed: the package that reads merp's requirements is not installed.
    """
    try:
        from merp.tools.doctor.examination import Examination
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "packaging":
            raise
        raise CheckFailed(f"doctor: {error.name} is missing: pip install packaging") from error
    from merp.tools.doctor.screen import lines, width

    found = Examination()
    fields.answered(asked, found.json(), lambda: print(*lines(found, width()), sep="\n"))
    return 1 if found.wrong else 0
