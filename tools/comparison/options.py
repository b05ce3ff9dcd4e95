"""Fields that requests of ``merp map``, ``merp compare`` and ``merp explore`` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from merp.tools.common import fields
from merp.tools.common.kinds import OneOf
from merp.tools.common.request import option
from merp.tools.common.scope import scope_field


def word(help: str, **more: Any) -> Any:
    """Declare ``--word``; ``own`` is the word of the paper."""
    return option(OneOf(("own", "16", "32")), help, default="own", **more)


def word_bits(text: str) -> int | None:
    """Return the bits of ``--word``; None for ``own``."""
    return None if text == "own" else int(text)


@dataclass(frozen=True, kw_only=True)
class ComparedStep:
    """A training step to compare."""

    network: str = fields.network()
    batch: int = fields.batch()
    scope: str = scope_field()
    fit: str = fields.fit("best")
