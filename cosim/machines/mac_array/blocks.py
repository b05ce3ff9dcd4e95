"""Blocks of the MAC array that are synthesised and routed separately."""

from __future__ import annotations

from merp.cosim.machines.blocks import Blocks

BLOCKS = Blocks(
    apart=frozenset(
        {
            "atom_sender", "circulant_order", "data_router", "delta_lanes", "gradient_supply",
            "lane_buffer", "layer_supply", "loss_unit", "mac_array", "mac_lane", "map_buffer",
            "operand_supply", "output_buffer", "output_path", "pass_counters", "random_bits",
            "region_rotator", "round_lane", "round_lanes", "sweep_drain", "tile_drain", "tile_walk",
            "trainer", "transposable_buffer", "unpool_path", "update_path", "upsampler",
            "weight_update",
        }
    ),
)  # fmt: skip
