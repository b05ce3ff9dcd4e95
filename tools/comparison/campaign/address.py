"""The address of a Dask scheduler, looked at before anybody is called."""

from __future__ import annotations

from argparse import ArgumentTypeError
from urllib.parse import urlsplit

from merp.models.base.errors import shown

SCHEMES = ("tcp", "tls")
"""Those that work with what ``merp[sweep]`` installs."""

MOST_PORT = (1 << 16) - 1


def scheduler_address(text: str) -> str:
    """Argument type: ``tcp://HOST:PORT`` or ``tls://HOST:PORT``; without a scheme it is ``tcp``.

    Raises:
        ArgumentTypeError: it is another thing.
    """
    scheme, found, place = text.rpartition("://")
    scheme = scheme if found else "tcp"
    if scheme not in SCHEMES or not _is_place(place):
        raise ArgumentTypeError(
            f"{shown(text)}: allowed is a scheduler, as tcp://HOST:8786, or tls://HOST:8786 with "
            f"certificates in Dask's configuration"
        )
    return f"{scheme}://{place}"


def _is_place(text: str) -> bool:
    """Whether it is a host and a port from 1 on, and nothing else; an IPv6 address in brackets."""
    try:
        parts = urlsplit(f"//{text}")
        port, host = parts.port, parts.hostname
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and not set(text) & set(" @/?#")
    return plain and bool(host) and port is not None and 0 < port <= MOST_PORT
