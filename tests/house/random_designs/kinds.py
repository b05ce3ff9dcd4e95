"""What signals and variables hold."""

from dataclasses import dataclass

from myhdl import intbv


@dataclass(frozen=True)
class Kind:
    """What a signal or a variable holds: a truth, or a number from ``low`` to ``high``.

    Attributes:
        modular: it wraps.
        symbol: the parameter that is its width. ``low`` to ``high`` is then of the widest.
        narrow: the least width; that of the symbol may be more.
    """

    low: int
    high: int
    truth: bool = False
    modular: bool = False
    symbol: str = ""
    narrow: int = 0

    @property
    def width(self) -> int:
        """How many bits can be taken of it in any case."""
        return self.narrow or len(intbv(self.low, min=self.low, max=self.high + 1))

    @property
    def zero(self) -> int:
        """0, or the bound next to it."""
        return min(max(0, self.low), self.high)

    @property
    def is_full(self) -> bool:
        """Whether it holds every value of its bits."""
        return self.high - self.low == (1 << self.width) - 1 or bool(self.symbol)

    def text(self, initial: int) -> str:
        """The value of a new signal of it."""
        if self.truth:
            return f"bool({initial})"
        kind = "modbv" if self.modular else "intbv"
        if self.symbol:
            return f"{kind}({initial})[{self.symbol}:]"
        if self.low == 0 and self.is_full:
            return f"{kind}({initial})[{self.width}:]"
        return f"{kind}({initial}, min={self.low}, max={self.high + 1})"


BIT = Kind(0, 1, truth=True)


def settled(kind: Kind, width: int) -> Kind:
    """A kind with its width known."""
    return Kind(0, (1 << width) - 1, modular=kind.modular) if kind.symbol else kind
