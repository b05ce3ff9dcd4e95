"""Expand folded Verilog: parameters become values, and the selected alternative remains.

The module reads the text that is written to the file. The result must equal the converted text,
token by token, except for labels and the notation of literals. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from merp.hdl.conversion._expand import EntityParts
from merp.hdl.conversion._logarithm import ceil_log2
from merp.hdl.conversion._verilog_text import chunks, sections, tokenised, value_of

Plain = tuple[str, ...]
_LITERAL = re.compile(r"\d+'s?[bdh][0-9a-fA-F]+")
_WORD = re.compile(r"\d+'(s?)w([0-9a-f]+)")
_ARITHMETIC = re.compile(r"[\d+\-*()<>=!&|?: ]+")
_SUMS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip
_RELATIONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_OPENERS = frozenset("( [ { , : = <= >= < > == != ; ? && || !".split())
_SIGNS = {"+": 1, "-": -1}


def _integer(text: str) -> int:
    """Return the value of an expression of numbers."""
    text = re.sub(r"\$clog2 \( ([^()?:]*) \)", lambda m: str(ceil_log2(_integer(m[1]))), text)
    choice = re.fullmatch(r"(?:\( )?(.*) \? (.*) : (.*?)(?: \))?", text)
    if choice is not None:
        return _integer(choice[2] if _integer(choice[1]) else choice[3])
    plain = re.sub("! (?!=)", "not ", text.replace("&&", " and ").replace("||", " or "))
    return int(_value(ast.parse(plain.strip(), mode="eval").body))


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.BinOp):
        return _SUMS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.Compare):
        (right,), (relation,) = node.comparators, node.ops
        return _RELATIONS[type(relation)](_value(node.left), _value(right))
    if isinstance(node, ast.BoolOp):
        among = all if isinstance(node.op, ast.And) else any
        return among(_value(each) for each in node.values)
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else not value
    assert isinstance(node, ast.Constant), ast.dump(node)
    return int(node.value)  # type: ignore[arg-type]


def _solid(text: str) -> list[str]:
    return [token for token in tokenised(text) if not token.isspace() and token[:2] != "//"]


def _literal(token: str) -> str:
    if not _LITERAL.fullmatch(token):
        return token
    value, width, sign = value_of(token)
    return f"{width}'{sign}w{value:x}"


class _Values:
    """Parameters and constants of one configuration."""

    def __init__(self, known: Mapping[str, int]) -> None:
        self.known = dict(known)
        self.words: dict[str, int] = {}

    def word(self, tokens: Sequence[str]) -> int:
        """Return the value of a constant: a literal, a constant with zeros before it, or a sum."""
        literal = _WORD.fullmatch(tokens[0])
        if literal is not None:
            return int(literal[2], 16)
        return self.words[tokens[3]] if tokens[0] == "{" else _integer(" ".join(tokens))

    def put_in(self, tokens: Sequence[str]) -> list[str]:
        """Replace names by values, compute sums, and write every literal by value and width."""
        found: list[str] = []
        for at, token in enumerate(tokens):
            formal = at > 0 and tokens[at - 1] == "."
            if token in self.known and not formal:
                token = str(self.known[token])
            found.append(_literal(token))
            while self._reduced(found, tokens[at + 1] if at + 1 < len(tokens) else ";"):
                pass
        return found

    def _reduced(self, found: list[str], following: str) -> bool:
        """Compute at the end of ``found`` if possible, and return whether it was."""
        last = found[-1]
        if last == ")":
            start = _opening(found, "(", ")")
            inner = found[start + 1 : -1]
            name = found[start - 1] if start else ";"
            if name == "$signed" and len(inner) == 1 and _WORD.fullmatch(inner[0]):
                found[start - 1 :] = [inner[0].replace("'w", "'sw")]
                return True
            if name == "$clog2" and len(inner) == 1 and inner[0].isdigit():
                found[start - 1 :] = [str(ceil_log2(int(inner[0])))]
                return True
            if name in _OPENERS | set("+-*{") and len(inner) > 1 and _is_arithmetic(inner):
                value = _integer(" ".join(inner))
                found[start:] = [str(value)] if value >= 0 else found[start:]
                return value >= 0
            if name in _OPENERS | set("+-*{") and len(inner) == 1 and inner[0].isdigit():
                found[start:] = inner
                return True
            return False
        if last == "}" and found[-6:-4] and found[-2:] == ["}", "}"] and found[-4] == "{":
            if found[-3] == "1'w0" and found[-5].isdigit() and found[-6] == "{":
                found[-6:] = [f"{found[-5]}'w0"]
                return True
            return False
        if last == "]" and len(found) > 5 and found[-6] in self.words and found[-5] == "[":
            high, low = int(found[-4]), int(found[-2])
            assert low == 0, found[-6:]
            value = self.words[found[-6]] & ((2 << high) - 1)
            assert value == self.words[found[-6]], found[-6:]
            found[-6:] = [f"{high + 1}'w{value:x}"]
            return True
        if not last.isdigit() or len(found) < 3:
            return False
        sign, left = found[-2], found[-3]
        before = found[-4] if len(found) > 3 else ";"
        if sign == "*" and left.isdigit() and before not in ("*", "/", "%"):
            found[-3:] = [str(int(left) * int(last))]
            return True
        if sign in _SIGNS and left.isdigit() and following != "*" and before in _OPENERS | {"{"}:
            value = int(left) + _SIGNS[sign] * int(last)
            if value < 0:
                return False
            found[-3:] = [str(value)]
            return True
        return False


def _is_arithmetic(tokens: Sequence[str]) -> bool:
    return all(_ARITHMETIC.fullmatch(token) for token in tokens)


def _opening(tokens: Sequence[str], opening: str, closing: str) -> int:
    depth = 0
    for at in range(len(tokens) - 1, -1, -1):
        depth += (tokens[at] == closing) - (tokens[at] == opening)
        if depth == 0:
            return at
    return 0


def taken_apart(
    text: str,
    given: Mapping[str, int],
    lacking: Collection[str],
    child: Callable[[str, Mapping[str, int]], tuple[str, Collection[str]]],
) -> EntityParts:
    """Return the module of a file with these parameters.

    Args:
        text: the file.
        given: its parameters; empty for a file as it was converted.
        lacking: inputs that the configuration does not have.
        child: returns token and open inputs of the module that an instance represents.
    """
    _, parameters, rows, lines = sections(text)
    names = [
        re.split(r" = ", row.strip().rstrip(","))[0].split()[-1]
        for row in parameters
        if row.strip()
    ]
    assert names == list(given), (names, given)
    values = _Values(given)
    ports = [values.put_in(_solid(row.rstrip(","))) for row in rows]
    ports = [port for port in ports if port[-1] not in lacking]
    declared: list[list[str]] = []
    statements: list[list[str]] = []
    for chunk in _chosen(lines, values):
        tokens = _solid(chunk)
        if tokens[0] == "localparam" and tokens[1] == "integer":
            values.known[tokens[2]] = _integer(" ".join(values.put_in(tokens[4:-1])))
        elif tokens[0] == "localparam" and tokens[6:7] and tokens[6].startswith("number_"):
            values.words[tokens[6]] = values.word(values.put_in(tokens[8:-1]))
        elif tokens[0] in ("wire", "reg", "localparam", "function", "integer"):
            declared.append(values.put_in(tokens))
        else:
            statements.append(_instance(_unlabelled(values.put_in(tokens)), child))
    flat = [token for port in ports for token in (*_without_one(port), ";")]
    return EntityParts(flat, [_without_one(each) for each in declared], statements)


def _chosen(lines: Sequence[str], values: _Values) -> Iterator[str]:
    """Yield declarations and statements, including those of generated alternatives."""
    for chunk in chunks(lines):
        if not chunk.startswith("generate"):
            yield chunk
            continue
        alternatives = _alternatives(chunk.split("\n")[1:-1])
        for condition, body in alternatives:
            if not condition or _integer(" ".join(values.put_in(_solid(condition)))):
                yield from chunks(body)
                break


def _alternatives(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the conditions of generated text, and the lines within each."""
    found: list[tuple[str, list[str]]] = []
    head = ""
    for line in lines:
        if line.startswith("        ") and not head:
            found[-1][1].append(line[8:])
        elif not line.strip():
            if found:
                found[-1][1].append("")
        elif line.strip() != "end":
            head += line.strip()
            if " begin : " in head:
                test = re.fullmatch(r"(?:end else )?(?:if \((.*)\) )?begin : \w+", head)
                assert test is not None, head
                found.append((test[1] or "", []))
                head = ""
    return found


def _unlabelled(tokens: list[str]) -> list[str]:
    """Return a statement without its label."""
    at = tokens.index("begin") if "begin" in tokens[:12] or tokens[0] == "always" else -1
    if at >= 0 and tokens[at + 1] == ":" and tokens[0] in ("always", "initial"):
        return [*tokens[: at + 1], *tokens[at + 3 :]]
    return tokens


def _without_one(tokens: Sequence[str]) -> list[str]:
    """Return a declaration in which a vector of one bit is a bit."""
    found: list[str] = []
    for token in tokens:
        found.append(token)
        if found[-5:] == ["[", "0", ":", "0", "]"] and tokens[0] != "function":
            del found[-5:]
    return found


def _instance(
    tokens: list[str], child: Callable[[str, Mapping[str, int]], tuple[str, Collection[str]]]
) -> list[str]:
    """Return an instance of a folded module as one of the original module, without its label."""
    if tokens[0][0] != "\x00":
        return tokens
    given: dict[str, int] = {}
    rest = tokens[1:]
    if rest[0] == "#":
        stop = rest.index(";") if ";" in rest[:2] else _closing(rest, 1)
        for at in range(2, stop):
            if rest[at] == ".":
                given[rest[at + 1]] = int(rest[at + 3])
        rest = rest[stop + 1 :]
    token, spare = child(tokens[0], given)
    rows = _rows(rest[2:-2])
    kept = [row for row in rows if row[1] not in spare]
    return [token, *(each for row in kept for each in (*row, ","))]


def _closing(tokens: Sequence[str], at: int) -> int:
    depth = 0
    while True:
        depth += (tokens[at] == "(") - (tokens[at] == ")")
        if depth == 0:
            return at
        at += 1


def _rows(tokens: Iterable[str]) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if token == "," and depth == 0:
            rows.append([])
        else:
            rows[-1].append(token)
    return rows


def difference(folded: EntityParts, original: EntityParts, alias: Mapping[str, str]) -> str | None:
    """Return the first difference of two modules, or None."""

    def named(each: Iterable[str]) -> Plain:
        return tuple(alias.get(token, token) for token in each)

    if folded.ports != original.ports:
        return f"ports: {' '.join(folded.ports)} is not {' '.join(original.ports)}"
    for what, one, other in (
        ("declarations", folded.declared, original.declared),
        ("statements", folded.statements, original.statements),
    ):
        a, b = Counter(map(named, one)), Counter(map(named, other))
        if a != b:
            left, right = next(iter(a - b), ("nothing",)), next(iter(b - a), ("nothing",))
            return f"{what}: {' '.join(left)} is not {' '.join(right)}"
    return None
