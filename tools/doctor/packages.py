"""Python packages that merp requires, by its metadata, and the installed version of each.

No package is imported: a version comes from the metadata of its installation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

OWN = "merp"


@dataclass(frozen=True, kw_only=True)
class Package:
    """A required package.

    Attributes:
        name: its name in the metadata of merp.
        allowed: allowed versions; "" for any.
        version: the installed version; None if the package is missing, "" if it has none.
        right: whether the installed version is allowed.
    """

    name: str
    allowed: str
    version: str | None
    right: bool

    @property
    def said(self) -> str:
        """The package and its version, or the reason why it is not right."""
        if self.version is None:
            return f"{self.name} is missing"
        found = f"{self.name} {self.version or 'without a version'}"
        return found if self.right else f"{found} (allowed: {self.allowed or 'any version'})"


def extras() -> list[str]:
    """Return the names of merp's extras, in the order of its metadata."""
    return metadata.metadata(OWN).get_all("Provides-Extra") or []


def packages(extra: str = "") -> list[Package]:
    """Return the packages that merp always requires, or those that an extra adds.

    An extra may name other extras of merp. Their packages belong to it.
    """
    found = {each.name: each for each in _added(OWN, extra, set())}
    return list(found.values())


def _added(name: str, extra: str, seen: set[tuple[str, str]]) -> Iterator[Package]:
    """Yield the packages that ``extra`` adds to the distribution ``name``.

    Args:
        seen: distributions and extras that were visited; they are not visited again.
    """
    if (canonicalize_name(name), extra) in seen:
        return
    seen.add((canonicalize_name(name), extra))
    for text in metadata.requires(name) or ():
        required = Requirement(text)
        if not _applies(required, extra) or (extra and _applies(required, "")):
            continue
        version = installed_version(required.name)
        if canonicalize_name(required.name) != OWN:
            yield _package(required, version)
        for more in sorted(required.extras) if version else ():
            yield from _added(required.name, more, seen)


def _applies(required: Requirement, extra: str) -> bool:
    return required.marker is None or required.marker.evaluate({"extra": extra})


def _package(required: Requirement, version: str | None) -> Package:
    try:
        right = bool(version) and required.specifier.contains(version or "", prereleases=True)
    except InvalidVersion:
        right = False
    return Package(
        name=required.name, allowed=str(required.specifier), version=version, right=right
    )


def installed_version(name: str) -> str | None:
    """Return the version of an installed package, "" if its metadata has none; None if it is
    missing.
    """
    try:
        found: str | None = metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
    except (KeyError, ValueError, OSError):  # no version, no text, or no metadata
        return ""
    return found or ""
