"""Blocks of CNN-MERP that are synthesised and routed separately."""

from __future__ import annotations

from merp.cosim.machines.blocks import Blocks

BLOCKS = Blocks(
    apart=frozenset(
        {
            "accumulator", "backward", "bias_gradient", "cu_array", "cu_fused", "cu_narrow",
            "delta", "delta_buffer", "delta_loader", "dilater", "forward", "fused_operands",
            "gradient_array", "gradient_cu", "input_path", "kernel_loader", "kernel_update",
            "row_array", "row_cu", "run_counters", "super_layer", "unpool", "update_unit",
           
        }
    ),
    routed=frozenset(
        {
            "accumulator", "bias_gradient", "cu_fused", "delta_buffer", "delta_loader", "dilater",
            "fused_operands", "gradient_cu", "input_path", "kernel_loader", "row_cu",
            "row_sequencer", "run_counters", "sequencer", "super_layer", "unpool", "update_unit",
        }
    ),
)  # fmt: skip
