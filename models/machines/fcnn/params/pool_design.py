"""Parameters of the modules of activation and pooling, fixed at elaboration.

F-CNN pools a map and then applies the activation, one of each per module (section II, equation 2).
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.latencies import ADD_LATENCY, CREDIT_RETURN, MUL_LATENCY
from merp.models.base.register_table import COUNT_MAX
from merp.models.base.state_field import position_bits
from merp.models.base.tanh_table import TANH_LATENCY, check_format
from merp.models.base.whole_numbers import check_ranges

ACTIVATIONS = ("none", "relu", "tanh")

RANGES = {
    "lanes": (1, 32), "window": (1, 11), "stride": (1, 16), "max_rows": (1, 4096),
    "max_columns": (1, 4096), "max_maps": (1, 1 << 16), "max_step": (1, 4096),
    "mul_latency": (1, 3), "add_latency": (1, 5),
}  # fmt: skip
"""Smallest and largest values of the fields that are whole numbers."""


@dataclass(frozen=True, kw_only=True)
class PoolDesign:
    """Elaboration parameters of a module of activation and pooling, in either direction.

    Attributes:
        fmt: number format of every element; binary32 with tanh.
        lanes: G, images of a beat.
        window: P, rows and columns of a window; 1 is an activation without pooling.
        stride: elements from a window to the next one, at least ``window``; 1 without pooling.
        activation: one of ``ACTIVATIONS``, applied to the maximum.
        kind: pooling; only "max" is implemented.
        max_rows, max_columns: of the largest map before pooling.
        max_maps: the largest number of maps.
        max_step: the largest number of beats of a column, B/G for a batch of B images.
        mul_latency, add_latency: cycles of a multiplier and of an adder, in the derivative of tanh.

    Raises:
        ValueError: a value is not allowed. The message names the key and the allowed values.
    """

    fmt: FloatFormat = BINARY32
    lanes: int
    window: int
    stride: int
    activation: str
    kind: str = "max"
    max_rows: int
    max_columns: int
    max_maps: int
    max_step: int
    mul_latency: int = MUL_LATENCY
    add_latency: int = ADD_LATENCY

    def __post_init__(self) -> None:
        """Check every field."""
        check_ranges(self, RANGES)
        if self.kind != "max":
            raise ValueError(f"kind of pooling must be max, not {self.kind}")
        if self.activation not in ACTIVATIONS:
            allowed = ", ".join(ACTIVATIONS)
            raise ValueError(f"activation must be one of {allowed}, not {self.activation}")
        if self.activation == "tanh":
            check_format(self.fmt)
        if self.window == 1 and self.stride != 1:
            raise ValueError(f"stride must be 1 without pooling (window 1), not {self.stride}")
        if self.stride < self.window:
            raise ValueError(
                f"stride must be at least the window of {self.window}, not {self.stride}"
            )
        for key in ("max_rows", "max_columns"):
            if getattr(self, key) < self.window:
                raise ValueError(
                    f"{key} must be at least the window of {self.window}, not {getattr(self, key)}"
                )

    @property
    def pools(self) -> bool:
        """Whether there is pooling, not only an activation."""
        return self.window > 1

    @property
    def keeps_state(self) -> bool:
        """Whether backward propagation needs state bytes."""
        return self.pools or self.activation == "relu"

    @property
    def keeps_map(self) -> bool:
        """Whether backward propagation needs the pooled map itself: y of tanh."""
        return self.activation == "tanh"

    @property
    def map_width(self) -> int:
        """Bits of a beat of a map: an element of every lane, lane 0 lowest."""
        return self.lanes * self.fmt.width

    @property
    def code_bits(self) -> int:
        """Bits of a position in a window; 0 without pooling."""
        return position_bits(self.window)

    @property
    def coded_width(self) -> int:
        """Bits of an element with its position above it."""
        return self.fmt.width + self.code_bits

    @property
    def row_words(self) -> int:
        """Beats of the longest pooled row: words of the memory of a row."""
        return self.windows(self.max_columns) * self.max_step

    @property
    def pool_latency(self) -> int:
        """Cycles from an accepted beat to the registered maximum."""
        return 2 if self.pools else 1

    @property
    def activation_latency(self) -> int:
        """Cycles of the activation of a maximum."""
        return TANH_LATENCY if self.activation == "tanh" else 0

    @property
    def forward_latency(self) -> int:
        """Cycles from an accepted beat to the push of its result."""
        return self.pool_latency + self.activation_latency

    @property
    def forward_places(self) -> int:
        """Places for results, enough for a result per cycle."""
        return self.forward_latency + CREDIT_RETURN

    @property
    def slope_latency(self) -> int:
        """Cycles from an accepted delta to the delta in front of the activation."""
        return self.add_latency + 2 * self.mul_latency if self.activation == "tanh" else 0

    @property
    def pooled_places(self) -> int:
        """Places for pooled deltas in front of the row memory, enough for one per cycle."""
        return self.slope_latency + CREDIT_RETURN

    @property
    def unpooled_places(self) -> int:
        """Places for deltas behind the row memory, enough for one per cycle."""
        return 1 + CREDIT_RETURN

    def windows(self, elements: int) -> int:
        """Return the windows along an axis of ``elements`` elements."""
        return (elements - self.window) // self.stride + 1


@dataclass(frozen=True, kw_only=True)
class PoolRun:
    """A run of such a module: the maps of a batch.

    Attributes:
        design: of the module.
        maps, rows, columns: number and size of the maps before pooling.
        images: B, a multiple of the design's lanes.

    Raises:
        ValueError: the run does not fit the design. The message names the key and the allowed
            values.
    """

    design: PoolDesign
    maps: int
    rows: int
    columns: int
    images: int

    def __post_init__(self) -> None:
        """Check the sizes against the design."""
        design = self.design
        most = {
            "maps": (1, design.max_maps), "rows": (design.window, design.max_rows),
            "columns": (design.window, design.max_columns),
            "images": (1, design.lanes * design.max_step),
        }  # fmt: skip
        check_ranges(self, most)
        if self.images % design.lanes:
            raise ValueError(
                f"images must be a multiple of the {design.lanes} lanes, not {self.images}"
            )
        if self.pooled_beats > COUNT_MAX:
            raise ValueError(
                f"beats after pooling must be at most {COUNT_MAX}, not {self.pooled_beats}"
            )

    @property
    def step(self) -> int:
        """Beats of a column."""
        return self.images // self.design.lanes

    @property
    def pooled_rows(self) -> int:
        """Rows of a pooled map."""
        return self.design.windows(self.rows)

    @property
    def pooled_columns(self) -> int:
        """Columns of a pooled map."""
        return self.design.windows(self.columns)

    @property
    def pooled_beats(self) -> int:
        """Beats of all pooled maps."""
        return self.maps * self.pooled_rows * self.pooled_columns * self.step
