"""Make unexpected values and texts."""

import json
from random import Random
from typing import Any

TEXTS = (
    "", " ", "\n", "a\nb", "\t", "\x1b[2J", "\x7f", "/x/y", "../../x", "..", ".", "-", "--", "~",
    "conv/1", "conv1 */ int x; /*", "$x", "$(id)", "`id`", "%s%n", "{0}", "{{x}}", "[red]", "é",
    "K", "中", "🦜", "\u202e", "\u2028", "\ud800", "'", '"', "\\", "a" * 64, "a" * 65, "a" * 250,
    "x" * 5000, "nan", "inf", "-inf", "1e999", "0", "-1", "1_0", "٣", "0x10", "1.5", "True", "none",
    "con", "nul", "alexnet", "conv1", "fc1", "k5", "all", "digits", "in", "out", "in/net.toml",
    "/dev/null", "/dev/full/x", "/proc/self/mem", "in/nothing.toml", "9" * 20, "9" * 4000,
    "9" * 5000,
)  # fmt: skip

NUMBERS = (
    0, 1, 2, 3, 4, 5, 7, 8, 11, 16, 63, 64, 255, 256, 257, 4095, 4096, 4097, 65535, 65536, 65537,
    1 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, 1 << 64, 10**30, -1, -2,
    -(1 << 63),
)  # fmt: skip


def toml_text(text: str) -> str:
    """Return a TOML string, as far as TOML can express it."""
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text)
    return f'"{escaped}"'


def toml_value(random: Random) -> str:
    """Return a value, or a similar text."""
    kind = random.randrange(10)
    if kind < 4:
        return str(random.choice(NUMBERS))
    if kind < 6:
        return toml_text(random.choice(TEXTS))
    return random.choice(
        [
            "true", "false", "nan", "-inf", "1e400", "0.5", "[]", "{}", "[[]]", "{ a = 1 }",
            "[1, 2]", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "''", "0x" + "f" * 50,
            "0b1", "1_0",
            "9" * random.choice((18, 19, 20, 300, 4000)), "[" * 30 + "]" * 30, '"""a\nb"""',
            "{ kind = 'max', window = 2 }", "{ kind = 'average', window = 1, stride = 9 }",
            "{ rows = 1, columns = 1, channels = 1 }", '"binary16"', '"fused"', '"row"', "=", "",
        ]
    )  # fmt: skip


def values(random: Random, text: str) -> str:
    """Return a network file with one to three values changed into others of their type."""
    found = text.split("\n")
    for _ in range(random.randrange(1, 4)):
        place = random.choice([index for index, line in enumerate(found) if " = " in line])
        key, _, value = found[place].partition(" = ")
        if value.isdecimal():
            value = str(random.choice(NUMBERS[: random.choice((4, 8, 8, len(NUMBERS)))]))
        elif key == "name":
            value = toml_text(random.choice(("conv", "fc", "")) + random.choice(TEXTS))
        elif value in ("true", "false"):
            value = random.choice(("true", "false"))
        else:
            value = toml_value(random)
        found[place] = f"{key} = {value}"
    return "\n".join(found)


def lines(random: Random, text: str, value: str) -> str:
    """Return ``text`` with a line or two changed.

    A value or a key is replaced, removed, doubled or moved.
    """
    found = text.split("\n")
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        place = random.randrange(len(found))
        key, equals, _ = found[place].partition("=")
        kind = random.randrange(8)
        if kind < 4 and equals:
            found[place] = f"{key}= {value}"
        elif kind == 4:
            del found[place]
            found = found or [""]
        elif kind == 5:
            found.insert(place, found[random.randrange(len(found))])
        elif kind == 6:
            found.insert(place, f"{key.strip() or 'x'}x = {value}")
        else:
            found[place] = found[place][: random.randrange(len(found[place]) + 1)]
    return "\n".join(found)


def content(random: Random, original: bytes) -> bytes:
    """Return ``original`` with bytes changed, cut off, removed or inserted."""
    found = bytearray(original)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        place = random.randrange(len(found) + 1)
        kind = random.randrange(6)
        if kind < 3 and place < len(found):
            found[place] = random.choice(
                (0, 255, 1, 127, 128, found[place] ^ 1 << random.randrange(8))
            )
        elif kind == 3:
            del found[place:]
        elif kind == 4:
            del found[place : place + random.randrange(1, 9)]
        else:
            found[place:place] = random.randbytes(random.choice((1, 2, 4, 8)))
    return bytes(found)


VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, -1, 1 << 31, 1 << 63, 10**30, 10**400, 0.5, -0.0, 1e308, 1e-320,
    float("nan"), float("inf"), "", "x", "$x", "a\nb", "\ud800", "\x1b[2J", "all", "fp", "x" * 3000,
    [], {}, [[]], [None], ["x"], [1, 2], {"a": 1}, {"total": "x"}, {"": []}, {"a\nb": 1},
)  # fmt: skip
"""Values of JSON, and values that Python writes as JSON."""


def json_value(random: Random, value: Any) -> Any:
    """Return ``value`` with one part changed, removed or inserted."""
    inside = isinstance(value, dict | list) and len(value) > 0
    if not inside or random.randrange(8) == 0:
        return random.choice(VALUES)
    key = random.choice(list(value) if isinstance(value, dict) else range(len(value)))
    changed = value.copy()
    kind = random.randrange(12)
    if kind == 0:
        del changed[key]
    elif kind == 1 and isinstance(changed, dict):
        changed[random.choice(TEXTS)] = value[key]
    else:
        changed[key] = json_value(random, value[key])
    return changed


def json_text(random: Random, text: bytes) -> bytes:
    """Return JSON with one to three values changed, or text that no parser should accept."""
    kind = random.randrange(12)
    if kind == 0:
        return random.choice((b"[" * 100_000, b'{"a":' * 50_000, b"9" * 5000, b'"' + b"x" * 70_000))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # damaged before, by this function
        return content(random, text)
    for _ in range(random.choice((1, 1, 2, 3))):
        value = json_value(random, value)
    written = json.dumps(value).encode()
    if kind == 1:  # a key that occurs twice
        return written[:-1] + b", " + written[1:]
    return written
