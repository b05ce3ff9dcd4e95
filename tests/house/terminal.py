"""The command line as a user has it: words go in, a status and text come out."""

import json
from typing import Any, NamedTuple

import pytest

from merp.tools import cli


class Ended(NamedTuple):
    """How a command ended: its status, what it printed, and its complaints."""

    status: int
    out: str
    err: str


class Terminal:
    """Runs ``merp`` in this process; words may be paths and numbers."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *words: object) -> Ended:
        """Run a command; a refusal by the parser of options counts as its status."""
        self._capsys.readouterr()
        try:
            status = cli.main([str(word) for word in words])
        except SystemExit as stop:
            status = int(stop.code or 0)
        return Ended(status, *self._capsys.readouterr())

    def output(self, *words: object) -> str:
        """What a command prints that has nothing to complain of."""
        ended = self.run(*words)
        assert (ended.status, ended.err) == (0, ""), ended
        return ended.out

    def prose(self, *words: object) -> str:
        """The same on one line, as a terminal of any width has it."""
        return " ".join(self.output(*words).split())

    def answer(self, *words: object) -> Any:
        """What it prints with ``--json``, read."""
        return json.loads(self.output(*words, "--json"))

    def refusal(self, *words: object, status: int = 2) -> str:
        """The one line with which a command ends that is refused and prints nothing."""
        ended = self.run(*words)
        lines = ended.err.splitlines()
        assert (ended.status, ended.out, len(lines)) == (status, "", 1), ended
        return lines[0]
