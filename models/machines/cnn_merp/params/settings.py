"""Legal range and meaning of every run-time register that an elaborated design may have."""

from __future__ import annotations

from merp.models.base.rates import UpdateRule
from merp.models.base.register_map import Settings
from merp.models.machines.cnn_merp.params.backward_registers import DELTA_BUNDLE
from merp.models.machines.cnn_merp.params.cluster_design import ClusterDesign, NodeDesign
from merp.models.machines.cnn_merp.params.cluster_registers import LINK, SHARE
from merp.models.machines.cnn_merp.params.delta_registers import DILATE
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    FOLD_ROWS,
    ROW_MAP,
    UPDATE_PASS,
    UPDATE_PORT,
    update_table,
)
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign, SliceDesign
from merp.models.machines.cnn_merp.params.pipeline_registers import ADMISSION
from merp.models.machines.cnn_merp.params.registers import (
    ADD,
    ADDED,
    KERNEL,
    LOAD,
    MAP,
    PASS,
    LayerTable,
    output_table,
    with_sides,
)
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.params.unpool_registers import ADDED_BUNDLE, unpool_table


def engine_settings(design: EngineDesign) -> Settings:
    """Return the registers of the tops that ``design`` sizes, without those of un-pooling.

    If tables extend each other, the longest one represents all.
    """
    return {
        **with_sides(ROW_MAP, design).settings(design),
        **LOAD.settings(design),
        **output_table(design).settings(design),
        **FOLD_ROWS.settings(design),
        **KERNEL.settings(design),
        **PASS.settings(design),
        **ADDED.settings(design),
        **ADD.settings(design),
        **DILATE.settings(design),
        **update_table(UpdateRule(True, True)).settings(design),
        **UPDATE_PASS.settings(design),
        **UPDATE_PORT.settings(design),
    }


def propagation_settings(design: EngineDesign) -> Settings:
    """Return the registers of delta propagation as a half of a pass."""
    return {
        **with_sides(LayerTable(DELTA_BUNDLE, MAP.registers), design).settings(design),
        **LOAD.settings(design),
        **output_table(design).settings(design),
        **DILATE.settings(design),
    }


def pipeline_settings(design: PipelineDesign) -> Settings:
    """Return the registers of a pipeline: of admission, and those of every engine."""
    found = dict(ADMISSION.settings(design))
    for place, each in enumerate(design.slices, 1):
        found |= _slice_settings(each, f"layer{place}")
    return {f"config_{name}": setting for name, setting in found.items()}


def cluster_settings(design: ClusterDesign) -> Settings:
    """Return the registers of a chain: of admission and of the links, and those of every share."""
    found = {f"config_{name}": setting for name, setting in LINK.settings(design.link).items()}
    for each in design.nodes:
        found |= node_settings(each)
    return found


def node_settings(design: NodeDesign) -> Settings:
    """Return the registers of a node of a chain: of admission, and those of its shares."""
    found = dict(ADMISSION.settings(design))
    for place, each in enumerate(design.shares, design.place):
        found |= _slice_settings(each.engines, f"share{place}")
        if not each.last:
            own = SHARE.settings(each)
            found |= {f"share{place}_{name}": setting for name, setting in own.items()}
    return {f"config_{name}": setting for name, setting in found.items()}


def _slice_settings(design: SliceDesign, where: str) -> Settings:
    """Return the registers of the engines of a layer, or of a share of a layer."""
    engines = {"fp": engine_settings(design.forward), "ku": engine_settings(design.update)}
    if design.expanded is not None:
        engines["ku"] = {**engines["ku"], **unpool_settings(design.expanded)}
    if design.propagation is not None and design.undone is not None:
        engines["dp"] = {
            **engine_settings(design.propagation),
            **unpool_settings(design.undone),
        }
    return {
        f"{where}_{phase}_{name}": setting
        for phase, settings in engines.items()
        for name, setting in settings.items()
    }


def unpool_settings(design: UnpoolDesign) -> Settings:
    """Return the registers of un-pooling, in every phase in which it is built."""
    return unpool_table(design).settings(design)


def add_unpool_settings(design: UnpoolDesign) -> Settings:
    """Return the registers of the un-pooling in front of the start of delta propagation's sums."""
    return unpool_table(design, ADDED_BUNDLE).settings(design)
