"""The JSON Schema (draft 7) of a network file, built from the keys of its reader.

Only the reader checks conditions between values, such as sizes that must chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merp.models.base.file_format import KEY, NETWORK
from merp.models.base.keys import (
    FlagKey,
    Key,
    Ratio,
    Reference,
    References,
    Sides,
    Sources,
    WholeKey,
    WordKey,
)
from merp.models.base.names import ALLOWED_NAME, NAME
from merp.models.base.toml_section import RATIO, read_toml
from merp.models.network.network_keys import (
    ACTIVATION_FIRST,
    BACKWARD,
    CONVOLUTION,
    FORMAT,
    FRACTION_INPUT,
    FRACTIONS,
    IMAGE_STORAGE,
    INPUT,
    INPUT_OF,
    KINDS,
    LAYER,
    LAYER_FUSION,
    POOL,
    POOLING,
    RELU_FIRST,
    ROUNDING,
    SLOPE,
    STORAGE,
    WHOLE_MAP,
)
from merp.models.network.registry import architecture_key, machines
from merp.tools.common.data import DATA
from merp.tools.common.shipped import shipped_names

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
_FORMAT = {
    "type": "integer", "minimum": 1, "maximum": NETWORK,
    "description": "format number of the file; default 1",
}  # fmt: skip
_NAMED = {"type": "string", "pattern": f"^{NAME.pattern}$", "description": ALLOWED_NAME}


def network_schema() -> Schema:
    """Return the schema, both for a complete file and for one with changes to its ``base``."""
    return {
        "$schema": DRAFT,
        "title": "merp network",
        "description": "The layers with their changes to the layer before, and their designs.",
        "type": "object",
        "if": {"required": ["base"]},
        "then": _file(whole=False),
        "else": _file(whole=True),
    }


def _file(*, whole: bool) -> Schema:
    storage = _table(_nodes((*STORAGE, *IMAGE_STORAGE)), (), whole=whole)
    network = _table(
        {
            "name": _NAMED,
            **_nodes((FORMAT, ROUNDING, BACKWARD, LAYER_FUSION)),
            "storage": storage | {"description": "formats in memory, no wider than format"},
            "input": _table(_nodes(INPUT), _required(INPUT), whole=whole),
        },
        ("name", "input"),
        whole=whole,
    )
    designs = {
        "type": "object",
        "propertyNames": _NAMED,
        "additionalProperties": _design(whole=whole),
        "description": "elaborations of the hardware, by name",
    }
    fractions = _table(_nodes((FRACTION_INPUT, *FRACTIONS)), (), whole=whole)
    found = {
        KEY: _FORMAT,
        "network": network,
        "fractions": fractions | {"description": "fraction bits of words in fixed point"},
        "layer": _layers(whole=whole),
        "design": designs,
    }
    if not whole:
        found = {"base": _base(), **found}
    return _table(found, ("network", "layer"), whole=whole)


def _base() -> Schema:
    """Return the shipped networks that have no base."""
    names = [name for name in shipped_names() if "base" not in read_toml(DATA / f"{name}.toml")]
    return {"enum": names, "description": "a shipped network, which this one modifies"}


def _layers(*, whole: bool) -> Schema:
    """Return a list of layers; over a base, tables by the names of its layers."""
    kinds = {kind: _layer(kind, whole=whole) for kind in KINDS}
    if not whole:
        return {
            "type": "object",
            "patternProperties": {f"^{kind}": each for kind, each in kinds.items()},
            "additionalProperties": False,
        }
    named = {"allOf": [_NAMED, {"pattern": f"^({'|'.join(KINDS)})"}]}
    items: Schema = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": named},
        "allOf": [
            {"if": {"properties": {"name": {"pattern": f"^{kind}"}}}, "then": each}
            for kind, each in kinds.items()
        ],
    }
    return {"type": "array", "minItems": 1, "items": items}


def _layer(kind: str, *, whole: bool) -> Schema:
    own_keys: Mapping[str, tuple[Key, ...]] = {
        "conv": LAYER + CONVOLUTION,
        "fc": LAYER,
        POOLING: (ACTIVATION_FIRST, SLOPE, RELU_FIRST, INPUT_OF),
    }
    keys = own_keys[kind]
    design = {
        **_NAMED,
        "description": "the design that runs it; if missing or auto, a plan on a board chooses it",
    }
    # The defaults of a layer are the values of [fractions], which a schema cannot express.
    fractions = {
        key: {name: value for name, value in node.items() if name != "default"}
        for key, node in _nodes(FRACTIONS).items()
    }
    own = _table(fractions, (), whole=whole)
    own |= {"description": "changes to [fractions] for this layer"}
    found = {"name": _NAMED, **_nodes(keys), "design": design, "fractions": own}
    needed = ["name", *_required(keys)]
    if kind != "fc":
        pool = _table(_nodes(POOL), _required(POOL), whole=whole)
        default = "" if kind == POOLING else "; default none"
        found["pool"] = pool | {"description": f"pooling after ReLU{default}"}
    if kind == POOLING:
        needed.append("pool")
        window = found["pool"]["properties"]["window"]
        found["pool"]["properties"]["window"] = {"oneOf": [window, {"const": WHOLE_MAP}]}
    return _table(found, tuple(needed), whole=whole)


def _design(*, whole: bool) -> Schema:
    named = architecture_key()
    tables = {
        each.name: _table(_nodes((named, *each.keys)), _required(each.keys), whole=whole)
        for each in machines()
    }
    found = tables.pop(named.allowed[0])
    for name, each in tables.items():
        spelled = [name, *(old for old, new in (named.aliases or {}).items() if new == name)]
        asks = {
            "required": ["architecture"],
            "properties": {"architecture": _node(named) | {"enum": spelled}},
        }
        found = {"if": asks, "then": each, "else": found}
    return found


def _table(nodes: Mapping[str, Schema], required: Iterable[str], *, whole: bool) -> Schema:
    """Return a table without other keys; over a base, which has all keys, none is required."""
    found: Schema = {
        "type": "object",
        "properties": dict(nodes),
        "additionalProperties": False,
    }
    return found | ({"required": list(required)} if whole else {})


def _required(keys: Iterable[Key]) -> tuple[str, ...]:
    return tuple(key.key for key in keys if key.required)


def _nodes(keys: Iterable[Key]) -> dict[str, Schema]:
    return {key.key: _node(key) for key in keys}


def _node(key: Key) -> Schema:
    found: Schema = {"description": key.says}
    match key:
        case WholeKey():
            found |= {"type": "integer", "minimum": key.low, "maximum": key.high}
        case Sides():
            side = {"type": "integer", "minimum": key.low, "maximum": key.high}
            each = {"type": "array", "items": side, "minItems": 4, "maxItems": 4}
            found |= {"oneOf": [side, each]}
        case Ratio():
            text = {"type": "string", "pattern": f"^{RATIO.pattern}$"}
            found |= {"oneOf": [{"type": "number"}, text]}
        case FlagKey():
            found |= {"type": "boolean"}
        case WordKey():
            found |= {"enum": [*key.allowed, *(key.aliases or ())]}
        case Reference():
            found |= _NAMED | found
        case Sources():
            several = {"type": "array", "items": _NAMED, "minItems": 2, "uniqueItems": True}
            found |= {"oneOf": [_NAMED, several]}
        case References():
            most = {"minItems": key.count, "maxItems": key.count, "uniqueItems": True}
            found |= {"type": "array", "items": _NAMED, **most}
    default = str(key.default) if isinstance(key, Ratio) else key.default
    return found if default is None else found | {"default": default}
