"""The request of an accelerator, on the command line and in Python."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from merp.tools.common import fields
from merp.tools.common.kinds import File, Listener, Place, Told
from merp.tools.common.request import keyword, needed
from merp.tools.layout.request import LayoutFields


@dataclass(frozen=True, kw_only=True)
class SystemOptions(LayoutFields, fields.Tables):
    """The options of the verb. The memory is that of ``merp layout``."""

    network: str = fields.network(after="words")
    output: Path = fields.output(
        "package",
        "folder of the package; it replaces an earlier package there",
        required=True,
    )


@dataclass(frozen=True)
class SystemKeywords(LayoutFields):
    """The keywords of the Python method."""

    output: Place = field(
        kw_only=True,
        metadata=needed(File(), "folder of the package, which replaces an earlier package there."),
    )
    _: KW_ONLY
    progress: Listener | None = keyword(Told(), "called with lines about the progress.")
