"""``merp completion``: print a shell script that completes verbs, options, networks and layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.tools.common.command_line.parser import command_line, subparsers_of
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.glossary import glossary
from merp.tools.common.kinds import OneOf
from merp.tools.common.request import option
from merp.tools.common.shipped import FILES, open_network, shipped_names

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, kw_only=True)
class CompletionOptions:
    """The options of the verb."""

    shell: str = option(OneOf(SHELLS), "the shell to print the script for", "shell", required=True)


REQUEST = CompletionOptions


def run(asked: CompletionOptions) -> int:
    """Print the script."""
    print(script(asked.shell))
    return 0


def script(shell: str) -> str:
    """Return the completion script of a shell, one of ``SHELLS``."""
    import shtab

    parser = command_line(VERBS)
    names = shipped_names()
    layers = dict.fromkeys(layer.name for name in names for layer in open_network(name).layers)
    terms = [term for term in (*glossary(), *VERBS) if " " not in term]
    networks = _words("networks", names, *FILES)
    found = {
        "network": networks,
        "compare": networks,
        "layer": _words("layers", ["all", *layers]),
        "term": _words("terms", terms),
        **dict.fromkeys(
            ("data", "validation"), _words("data", ["digits"], ".npz", ".csv", "-ubyte", ".gz")
        ),
    }
    for each in subparsers_of(parser).values():
        for action in each._actions:
            # shtab reads this attribute, which argparse does not define
            if action.dest in found:
                action.complete = found[action.dest]  # type: ignore[attr-defined]
            elif action.type is Path:
                kind = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE
                action.complete = kind  # type: ignore[attr-defined]
    return shtab.complete(parser, shell)


def _words(name: str, words: Sequence[str], *suffixes: str) -> dict[str, Any]:
    """Return shtab's completion of ``words``, and of files that end in one of ``suffixes``."""
    all_words = " ".join(words)
    bash, zsh = f'compgen -W "{all_words}" -- "$1"', f"'words:word:({all_words})'"
    for suffix in suffixes:
        bash += f'; compgen -f -X "!*{suffix}" -- "$1"'
        zsh += f""" 'files:file:_files -g "*{suffix}"'"""
    if suffixes:
        bash += '; compgen -d -S / -- "$1"'
    return {
        "bash": f"_merp_{name}",
        "zsh": f"_merp_{name}",
        "fish": " ".join([all_words, *(f"(__fish_complete_suffix {each})" for each in suffixes)]),
        "preamble": {
            "bash": f"_merp_{name}() {{ {bash}; }}",
            "zsh": f"_merp_{name}() {{ _alternative {zsh}; }}",
        },
    }
