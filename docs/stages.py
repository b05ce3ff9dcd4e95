"""Stages of the datapath: which block belongs where, in the navigation and in the diagrams.

A word passes the stages from the first to the last; what every stage uses stands behind them. A
stage lists pages of ``docs/blocks`` without their suffix, or whole rooms.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

STAGES: Mapping[str, tuple[str, ...]] = {
    "Several boards": ("cnn_merp/chain",),
    "All layers at once": ("cnn_merp/pipeline",),
    "Whole engines": ("cnn_merp/phases",),
    "AXI": ("axi",),
    "Memory": ("memory",),
    "Kernel loading": ("cnn_merp/kernel_loader", "cnn_merp/cu_array/merge_taps"),
    "Un-pooling and dilation": ("cnn_merp/upsampling",),
    "Input memory": (
        "cnn_merp/input_buffer/map_router",
        "cnn_merp/input_buffer/router",
        "cnn_merp/input_buffer/fold_router",
        "cnn_merp/input_buffer/input_banks",
        "cnn_merp/input_buffer/wide_banks",
    ),
    "Windows": ("cnn_merp/sequencer", "cnn_merp/input_buffer/location_restore"),
    "CU array": (
        "cnn_merp/cu_array/cu_array",
        "cnn_merp/cu_array/cu",
        "cnn_merp/cu_array/cu_fused",
        "cnn_merp/cu_array/cu_narrow",
        "fused",
    ),
    "Accumulators": (
        "cnn_merp/cu_array/accumulator",
        "cnn_merp/cu_array/partial_loader",
        "cnn_merp/cu_array/added_maps",
        "cnn_merp/cu_array/added_beats",
    ),
    "Super-layer: ReLU and pooling": (
        "cnn_merp/super_layer/super_layer",
        "cnn_merp/super_layer/beat_issue",
        "cnn_merp/super_layer/partial_writer",
        "cnn_merp/super_layer/pool_control",
        "cnn_merp/super_layer/pool_unit",
        "arithmetic/relu",
    ),
    "Gradients": ("cnn_merp/delta_buffer", "cnn_merp/gradient_array"),
    "Update": ("cnn_merp/update_unit",),
    "MAC array": (
        "mac_array/phases",
        "mac_array/sequencer",
        "mac_array/kernel_buffer",
        "mac_array/map_buffer",
        "mac_array/delta_buffer",
        "mac_array/array",
        "mac_array/output",
        "mac_array/update",
    ),
    "F-CNN's modules": ("fcnn",),
    "Mazouz and Bridges' element": ("mazouz",),
    "Streams": ("streams",),
    "Shared arithmetic": (
        "arithmetic/fp_add",
        "arithmetic/fp_mul",
        "arithmetic/fixed_round",
        "arithmetic/fp_tree",
        "arithmetic/tanh",
        "arithmetic/tanh_slope",
        "arithmetic/fp_round",
        "arithmetic/fp_convert",
        "arithmetic/byte_value",
        "arithmetic/fp_widen",
        "arithmetic/scaled_sum",
    ),
    "Memories and delays": ("base",),
}


def staged(blocks: Path, stages: Mapping[str, tuple[str, ...]] = STAGES) -> dict[str, list[Path]]:
    """Pages of ``blocks`` by stage, in the order of the list, each relative to ``blocks``.

    Raises:
        ValueError: a page has no stage or two, or a stage names what is not there.
    """
    found: dict[str, list[Path]] = {}
    left = {path.relative_to(blocks) for path in blocks.rglob("*.md")}
    for stage, names in stages.items():
        found[stage] = []
        for name in names:
            room, page = Path(name), Path(f"{name}.md")
            pages = [page] if page in left else sorted(p for p in left if p.parent == room)
            if not pages:
                raise ValueError(f"stage {stage}: {name}: no page, or in a stage before")
            left -= set(pages)
            found[stage] += pages
    if left:
        raise ValueError(f"in no stage: {', '.join(map(str, sorted(left)))}")
    return found
