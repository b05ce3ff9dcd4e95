"""Parse the address of a Dask scheduler, before any connection."""

from __future__ import annotations

from argparse import ArgumentTypeError
from urllib.parse import urlsplit

from merp.models.base.errors import shown

SCHEMES = ("tcp", "tls")
"""Schemes that work with the packages of ``merp[sweep]``."""

MOST_PORT = (1 << 16) - 1


def scheduler_address(text: str) -> str:
    """Parse an argument: ``tcp://HOST:PORT`` or ``tls://HOST:PORT``; the default scheme is ``tcp``.

    Raises:
        ArgumentTypeError: it is not such an address.
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
    """Return whether it is a host and a port from 1 on; an IPv6 address has brackets."""
    try:
        parts = urlsplit(f"//{text}")
        port, host = parts.port, parts.hostname
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and not set(text) & set(" @/?#")
    return plain and bool(host) and port is not None and 0 < port <= MOST_PORT
