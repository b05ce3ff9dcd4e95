"""Contents of the streams of a top, word for word."""

from __future__ import annotations

import re

from merp.hdl.conversion.docstring import docstring
from merp.testbenches.top.top import Top

_STREAM = re.compile(r"^ *([sm]_axis_\w+) +(?:in|out) +(.+)$", re.MULTILINE)


def stream_words(top: Top) -> dict[str, str]:
    """Return contents and order of words by stream, from the docstring of the block.

    Raises:
        ValueError: the docstring does not describe a stream.
    """
    streams = [pin.name for pin in top.ports.streams]
    told = {
        name: meaning
        for name, meaning in _STREAM.findall(docstring(top.function))
        if name in streams
    }
    missing = ", ".join(name for name in streams if name not in told)
    if missing:
        raise ValueError(f"{top.name}: its docstring does not describe {missing}")
    return told
