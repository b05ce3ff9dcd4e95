"""Compare two networks, or two configurations of one, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merp.models.network.network import Network
from merp.models.network.phases import COUNTED
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic, total
from merp.models.traffic.count import Count
from merp.tools.common.stored import stored_notes
from merp.tools.common.table import console, fixed, table

Pair = tuple[dict[str, PhaseTraffic], dict[str, PhaseTraffic]]
TOTALS = ("conv layers", "all layers")


def paired(first: Sequence[LayerTraffic], second: Sequence[LayerTraffic]) -> dict[str, Pair]:
    """Return the phases of both by layer, in the order of the first, then both totals.

    If only one of them has a layer, the other has no phases for it.
    """
    ours, theirs = ({each.layer.name: each for each in some} for some in (first, second))
    pairs: dict[str, Pair] = {
        name: (_phases(ours.get(name)), _phases(theirs.get(name))) for name in ours | theirs
    }
    for name in TOTALS:
        sums = []
        for some in (first, second):
            counted = [each for each in some if name != TOTALS[0] or each.layer.kind == "conv"]
            found = {phase: total(counted, phase) for phase in (*COUNTED, "step")}
            sums.append({phase: each for phase, each in found.items() if each.operations})
        pairs[name] = (sums[0], sums[1])
    return pairs


def _phases(layer: LayerTraffic | None) -> dict[str, PhaseTraffic]:
    if layer is None:
        return {}
    found = {phase: getattr(layer, phase) for phase in COUNTED}
    return {phase: each for phase, each in found.items() if each is not None}


def _ratio(pair: Pair, phase: str) -> float | None:
    """Return the bytes of the second over the bytes of the first."""
    first, second = (some.get(phase) for some in pair)
    return second.bytes / first.bytes if first and second and first.bytes else None


def ratios(pairs: Mapping[str, Pair]) -> dict[str, dict[str, float | None]]:
    """Return the bytes of the second over those of the first, by layer and phase."""
    return {
        name: {phase: _ratio(pair, phase) for phase in (pair[0] | pair[1])}
        for name, pair in pairs.items()
    }


def print_comparison(
    networks: tuple[Network, Network], pairs: Mapping[str, Pair], batch: int, count: Count
) -> None:
    """Print MB and MB/GFlop of both, and their ratio, per layer and phase."""
    columns = ["layer", "phase", "A MB", "B MB", "B / A", "A MB/GFlop", "B MB/GFlop"]
    rows = []
    for name, pair in pairs.items():
        for phase in (*COUNTED, "step"):
            found = [some.get(phase) for some in pair]
            if found == [None, None]:
                continue
            rows.append(
                [
                    name,
                    phase if phase == "step" else phase.upper(),
                    *(fixed(each.bytes / 1e6 if each else None, 2) for each in found),
                    fixed(_ratio(pair, phase), 3),
                    *(fixed(each.mb_per_gflop if each else None, 3) for each in found),
                ]
            )
    sums = sum(row[0] in TOTALS for row in rows)
    title = f"A: {networks[0].name}, B: {networks[1].name}, batch {batch}"
    captions = [bytes_of(network).caption(count) for network in networks]
    caption = captions[0] if captions[0] == captions[1] else ""
    if not caption:
        both = zip("AB", captions, strict=True)
        caption = " ".join(f"{letter}: {said}" for letter, said in both)
    for letter, network in zip("AB", networks, strict=True):
        caption += "".join(f" {letter}: {note}" for note in stored_notes(network))
    screen = console()
    screen.print(
        table(
            title, columns, rows, text_columns=2, keys=2, bundles=(3, 2), totals=sums,
            caption=caption,
        )
    )  # fmt: skip
