"""Damage ONNX models: change fields of nodes, tensors and sizes, or bytes."""

from pathlib import Path
from random import Random
from typing import Any

import mutate
import onnx_models
from harness import faults, nothing_simulated

MODEL = Path("in/net.onnx")
OPERATORS = (
    "Conv", "Gemm", "MatMul", "Add", "BatchNormalization", "Relu", "MaxPool", "AveragePool",
    "GlobalAveragePool", "Flatten", "Reshape", "Squeeze", "Dropout", "Identity", "Softmax",
    "Constant", "If", "Concat", "", "é",
)  # fmt: skip


def models(random: Random) -> list[str]:
    """Try a model with one to four changes in a verb."""
    if random.randrange(3):
        made = onnx_models.random_model(random)
    else:
        rest = (
            onnx_models.random_branches(random),
            onnx_models.random_fires(random),
            onnx_models.three_layers(),
        )
        made = random.choice(rest)
    return attempt(random, made)


def attempt(random: Random, made: Any) -> list[str]:
    """Damage a model and try it in a verb; return the faults of the answer."""
    bytewise = random.randrange(3) == 0
    if not bytewise:
        for _ in range(random.choice((1, 1, 2, 4))):
            _change(random, made)
    content = made.SerializeToString()
    if bytewise:  # names and sizes are at the beginning and at the end, numbers between them
        edge = random.choice((0, 0, max(0, len(content) - 400)))
        content = content[:edge] + mutate.content(random, content[edge:])
    MODEL.write_bytes(content)
    words = random.choice(
        (
            ["import", "-o", "out/net.toml", "--weights", "out/net.npz"],
            ["import", "-o", "out/net.toml", "--partial", "--json"],
            ["networks"],
            ["traffic", "--json"],
            ["plan", "--board", "kc705", "--batch", "2"],
            ["simulate"],
        )
    )
    with nothing_simulated():
        return faults([words[0], str(MODEL), *words[1:]])


def _change(random: Random, model: Any) -> None:
    """Change one field somewhere."""
    found = [model, *_below(model)]
    message = random.choice(found)
    fields = list(message.DESCRIPTOR.fields)
    said = [each for each, _ in message.ListFields()] or fields
    field = random.choice(said if random.randrange(4) else fields)
    kind = random.randrange(6)
    if kind == 0:
        message.ClearField(field.name)
        return
    value = getattr(message, field.name)
    if field.message_type is not None:
        if hasattr(value, "add"):  # repeated: one gone, twice, or an empty one
            if kind < 3 and len(value):
                del value[random.randrange(len(value))]
            elif kind < 5 and len(value):
                value.add().CopyFrom(random.choice(list(value)))
            else:
                value.add()
        else:
            value.SetInParent()
        return
    several = hasattr(value, "append")
    old = random.choice(list(value)) if several and len(value) else value
    new = _value(random, field, old)
    try:
        if not several:
            setattr(message, field.name, new)
        elif len(value) and kind < 4:
            value[random.randrange(len(value))] = new
        else:
            value.append(new)
    except (ValueError, TypeError, OverflowError):  # protobuf does not hold it
        message.ClearField(field.name)


def _value(random: Random, field: Any, old: Any) -> Any:
    """Return another value for a field of its type."""
    if field.name == "op_type":
        return random.choice(OPERATORS)
    if field.cpp_type == field.CPPTYPE_STRING:
        if isinstance(old, bytes):
            return mutate.content(random, old) if old else b"x"
        return random.choice((*mutate.TEXTS[:40], "x", "a", "b", "w", "v0", "v1", "v2"))
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return random.choice((0.0, -1.0, 1e38, float("nan"), float("inf")))
    return random.choice(mutate.NUMBERS)


def _below(message: Any) -> list[Any]:
    """Return every inner message."""
    found = []
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if hasattr(value, "add") else [value]:
                found += [each, *_below(each)]
    return found
