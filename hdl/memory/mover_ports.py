"""The ports of a mover, by purpose: its commands, its state, and its channels to the port."""

from __future__ import annotations

from merp.hdl.base.interface import DesignPorts, GivenPorts, Member, given_all
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.requests import (
    ErrorResponse,
    ReadBeats,
    Requests,
    WriteBeats,
    WriteResponses,
)
from merp.models.memory.params.memory_port import MemoryPort


class MoverCommands(GivenPorts):
    """Start and stop of a mover."""

    MEMBERS = given_all(start=Bit, stop=Bit)


class MoverState(GivenPorts):
    """Progress and first error of a mover."""

    MEMBERS = given_all(finished=Bit, idle=Bit, error=ErrorResponse)


class ReadChannels(DesignPorts[MemoryPort]):
    """Requests and beats of a mover that reads."""

    MEMBERS = (Member("requests", Requests), Member("beats", ReadBeats))


def _responses(port: MemoryPort) -> WriteResponses:
    return WriteResponses()


class WriteChannels(DesignPorts[MemoryPort]):
    """Requests, beats and responses of a mover that writes."""

    MEMBERS = (
        Member("requests", Requests),
        Member("beats", WriteBeats),
        Member("responses", _responses, kind=WriteResponses),
    )
