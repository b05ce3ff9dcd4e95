"""Words of a stream behind its gate, which has counted them and checked their last."""

from __future__ import annotations

from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.conversion.entity import Bit, Word


class GatedWords(GivenPorts):
    """Words whose last is known already.

    data          in       the word
    valid, ready  in, out  handshake behind the gate
    """

    MEMBERS = given_all(data=Word, valid=Bit, ready=Bit)
