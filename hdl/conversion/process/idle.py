"""Find loops without a round. Text with parameters keeps them; other configurations have rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.meaning import Meaning


def kept_loops(meaning: Meaning) -> list[m.Statement]:
    """Return the statements of a process without idle loops that would extend it.

    If only an idle loop names a signal, the process does not use it: VHDL would give it a driver
    there.
    """
    known = {*meaning.reads, *meaning.drives}
    known |= {*meaning.memories_read, *meaning.memories_driven}
    driven = {*meaning.drives, *meaning.memories_driven}
    return _kept(meaning.statements, known, driven)


def _kept(
    statements: Sequence[m.Statement], known: set[int], driven: set[int]
) -> list[m.Statement]:
    return [
        m.changed_inside(each, lambda body: _kept(body, known, driven))
        for each in statements
        if not (isinstance(each, m.For) and not each.count)
        or (set(_read([each])) <= known and set(_assigned([each])) <= driven)
    ]


def _read(statements: Sequence[m.Statement]) -> Iterator[int]:
    """Yield signals and lists whose values are used, by ``id``."""
    for each in statements:
        for value in m.values_of(each):
            for part in m.parts_of(value):
                if isinstance(part, m.Read):
                    yield id(part.signal)
                elif isinstance(part, m.Element):
                    yield id(part.memory)
        yield from (inner for body in m.bodies_of(each) for inner in _read(body))


def _assigned(statements: Sequence[m.Statement]) -> Iterator[int]:
    """Yield signals and lists that are assigned, by ``id``."""
    for each in statements:
        if isinstance(each, m.Assign):
            base = each.target.base
            if isinstance(base, m.Read):
                yield id(base.signal)
            elif isinstance(base, m.Element):
                yield id(base.memory)
        yield from (inner for body in m.bodies_of(each) for inner in _assigned(body))
