"""Meanings of the registers of CNN-MERP's tops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.models.base.register_map import Setting, Settings
from merp.models.machines.cnn_merp.params.cluster_design import NodeDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_registers import second_settings
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign
from merp.models.machines.cnn_merp.params.settings import (
    add_unpool_settings,
    engine_settings,
    node_settings,
    pipeline_settings,
    propagation_settings,
    unpool_settings,
)
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.top.described import Description

_ENGINES = {"propagation": propagation_settings, "second": second_settings}
"""Functions that describe the registers of a design by its parameter, if a top has several."""


def described(parameters: Mapping[str, Any]) -> Description:
    """Describe a top by its parameters."""
    known: dict[str, Setting] = {}
    for name, parameter in parameters.items():
        known |= _settings(name, parameter)
    return Description(known)


def _settings(name: str, parameter: Any) -> Settings:
    match parameter:
        case PipelineDesign():
            return pipeline_settings(parameter)
        case NodeDesign():
            return node_settings(parameter)
        case EngineDesign():
            return _ENGINES.get(name, engine_settings)(parameter)
        case UnpoolDesign():
            added = name == "add_undone"
            return add_unpool_settings(parameter) if added else unpool_settings(parameter)
    return {}
