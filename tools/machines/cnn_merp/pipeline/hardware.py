"""The hardware half of the pipeline."""

from __future__ import annotations

from merp.tools.machines.parts import Parts

HARDWARE = Parts(
    course="merp.tools.machines.cnn_merp.pipeline.course:course",
    arithmetic="merp.tools.machines.cnn_merp.pipeline.training:PipelineArithmetic",
    trained="merp.tools.machines.cnn_merp.pipeline.trained:TRAINED",
    explorer="merp.tools.machines.cnn_merp.pipeline.explore:EXPLORER",
    export="merp.tools.machines.cnn_merp.pipeline.export:export",
)
