"""What a design may have, by name."""

FEATURES = {
    # signals
    "signed": "signals with negative values",
    "odd bounds": "bounds that are no powers of two",
    "width 1": "vectors of one bit",
    "wide": "signals of up to 40 bits",
    "modbv": "signals and variables that wrap",
    "initial values": "signals that do not begin with 0",
    "names": "constants with names",
    # numbers
    "big constants": "constants of 2**31 and more, of either sign",
    "multiply": "a * b",
    "divide": "a // 3, a % 3",
    "divide by signals": "a // (b | 1), a % (b | 1)",
    "negative divisors": "a // -3, a % -3",
    "casts": "values cut by intbv(a + b)[8:]",
    "modulo": "values cut by % 2**w, or by % n for odd bounds",
    "shift left": "a << 3",
    "shift right": "a >> 3",
    "shift by signals": "a << b, a >> b, 1 << b",
    "invert": "~a",
    "minus": "-a",
    "conditional": "a if c else b",
    "int()": "int(a)",
    "len": "len(a)",
    "abs": "abs(a)",
    "min max": "min(a, b), max(a, b)",
    "slices": "a[5:2]",
    "concat": "concat(a, b[3], True)",
    "signed()": "a.signed(), also of slices",
    "tuples": "rom[a] inside expressions",
    "truths as numbers": "a + (b > c), a + b[3]",
    # truths
    "bits": "a[3]",
    "dynamic bits": "a[b]",
    "chained": "a < b <= c",
    "in": "a in (1, 2, 3)",
    "logic": "and, or, not",
    "bitwise truths": "p & q, p ^ q, p | q",
    "bool()": "bool(a)",
    "vectors as truths": "if a:",
    # statements
    "int variables": "n = a + b",
    "intbv variables": "v = intbv(a)[8:], v[:] = b",
    "bool variables": "f = a > b",
    "in place": "v[3] = f, v[5:2] = a",
    "signals in place": "s.next[3] = f, s.next[5:2] = a",
    "augmented": "v += a, n //= 3",
    "loops": "for i in range(8)",
    "breaks": "break and continue in loops",
    "elif": "if, elif, else",
    "match": "match a",
    "saturate": "if a + b > 7: ... elif a + b < -8: ...",
    "functions": "functions that return a number or a truth",
    "procedures": "functions that assign signals",
    # structure
    "always_seq": "registers with a synchronous reset, active high or low",
    "async": "registers with an asynchronous reset",
    "explicit reset": "if rst: ... else: ...",
    "state machines": "signals of an enum",
    "memories": "lists of signals",
    "children": "entities inside, with parameters, and instantiated twice",
    "generic widths": "a parameter that is the width of ports",
    "constant actuals": "ints and bools as inputs of a child",
    "plain blocks": "@block inside, which is flattened",
    "instance lists": "[child(xs[i], ys[i]) for i in range(3)]",
}
"""What a design may have, by name."""

EVERYTHING = frozenset(FEATURES)

NEEDS = {
    "async": ("always_seq",),
    "augmented": ("int variables", "intbv variables"),
    "breaks": ("loops",),
    "constant actuals": ("children",),
    "dynamic bits": ("bits",),
    "generic widths": ("children",),
    "in place": ("intbv variables",),
    "instance lists": ("children", "memories"),
    "loops": ("bits", "int variables", "intbv variables"),
    "plain blocks": ("children",),
}
"""Features that show only with others."""


def alone(feature: str) -> frozenset[str]:
    """The feature with those that it needs."""
    found = {feature}
    while more := {each for one in found for each in NEEDS.get(one, ())} - found:
        found |= more
    return frozenset(found)
