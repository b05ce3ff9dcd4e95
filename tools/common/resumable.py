"""Report the saved work of an interrupted run, and the command that resumes it.

The code that saves adds a note to the interrupt with the saved work and its place. A verb adds the
command. The command line prints both in one line. Without saved work it prints nothing.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def noted(saved: Callable[[], str]) -> Iterator[None]:
    """If an interrupt arrives inside, add the text of ``saved`` to it as a note, unless it is
    ""."""
    try:
        yield
    except KeyboardInterrupt as error:
        if said := saved():
            error.add_note(said)
        raise


@contextmanager
def resumable(words: Sequence[str], *options: str) -> Iterator[None]:
    """If an interrupt with a note arrives inside, add the command that resumes the run.

    Args:
        words: the command line after ``merp``.
        options: further options of the resuming command, each one word.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        notes = getattr(error, "__notes__", [])
        notes[-1:] = [f"{each}; go on with: {command(words, options)}" for each in notes[-1:]]
        raise


def command(words: Sequence[str], options: Sequence[str]) -> str:
    """Return a command line with options, for a shell, on one line."""
    end = words.index("--") if "--" in words else len(words)
    more = [each for each in options if each not in words[:end]]
    return " ".join(map(_quoted, ("merp", *words[:end], *more, *words[end:])))


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(_escaped(each) for each in word) + "'"


def _escaped(letter: str) -> str:
    if letter.isprintable() and letter not in "\\'":
        return letter
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(letter))
