"""``merp schema``: print the JSON Schema of the files that users write."""

from __future__ import annotations

import json
from dataclasses import dataclass

from merp.tools.common.kinds import OneOf
from merp.tools.common.request import option
from merp.tools.networks.schema import network_schema

SCHEMAS = {"network": network_schema}
"""Schemas by the kind of file."""


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """The options of the verb."""

    kind: str = option(
        OneOf(tuple(SCHEMAS)), "kind of file: network (default)", "KIND", default="network"
    )


REQUEST = SchemaOptions


def run(asked: SchemaOptions) -> int:
    """Print the schema."""
    print(json.dumps(SCHEMAS[asked.kind](), indent=2))
    return 0
