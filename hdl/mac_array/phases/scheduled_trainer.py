"""The fixed-point MAC array with its schedule: runs every pass of a batch after one start.

Source: S. K. Venkataramanaiah et al., FPL 2019, figure 3.
"""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import flag, signals_of, stream_of
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.phases.layer_schedule import LayerSchedulePorts, layer_schedule
from merp.hdl.mac_array.phases.run_total import run_total
from merp.hdl.mac_array.phases.trainer import trainer
from merp.hdl.mac_array.ports.settings import pass_settings
from merp.hdl.mac_array.ports.status import ArrayStatus
from merp.hdl.mac_array.ports.trainer_ports import ScheduledPorts, TrainerPorts
from merp.models.base.register_map import FLAGS
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def scheduled_trainer(
    clk: Bit, rst: Bit, start: Bit, ports: ScheduledPorts, design: ArrayDesign
) -> Any:
    """Compute the passes of a batch, image by image.

    schedule_config  in   registers, stable from start to done
    s_axis_schedule  in   words of the passes, in a run that loads them.
    s_axis_*         in   inputs of the trainer; last comes with the last beat of each pass.
    m_axis_*         out  outputs of the trainer; last comes with the last beat of each pass.
    status           out  status of the run; its counters are sums over the passes

    Latency, throughput and reset are those of layer_schedule and of the trainer.
    """
    settings = pass_settings(design)
    status = ports.status
    pass_start, pass_over = flag(), flag()
    told = ArrayStatus(design)
    schedule = layer_schedule(
        clk, rst, start, design=design, ports=LayerSchedulePorts(
            config=ports.schedule_config, sink=stream_of(ports.s_axis_schedule),
            settings=settings, pass_start=pass_start, pass_done=told.done,
            pass_error=told.framing_error, pass_over=pass_over, busy=status.busy,
            done=status.done, framing_error=status.framing_error,
        ),
    )  # fmt: skip
    schedules = ("schedule_config", "s_axis_schedule", "status")
    streams = {name: each for name, each in vars(ports).items() if name not in schedules}
    array = trainer(
        clk,
        rst,
        start=pass_start,
        ports=TrainerPorts(design, **streams, **vars(settings), status=told),
        design=design,
    )
    counted = dict(signals_of(told))
    totals = [
        run_total(clk, rst, start, add=pass_over, counted=counted[name], total=total)
        for name, total in signals_of(status)
        if name not in FLAGS
    ]
    return schedule, array, totals
