"""Legal range and meaning of every run-time register, by the flattened name of its port.

``registers.py`` and its siblings say which values a layer needs; here stands what an elaborated
design accepts at all. A range holds for one register on its own. What only registers together can
break (a map larger than the memories, sizes that do not follow from each other) is checked by the
software that makes the values, see ``sizing.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

from merp.models.params.cnn_merp.delta_registers import MAX_DILATION
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.kernel_update_registers import longest_rest, revisit_cycles
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.params.register_map import Setting, Settings
from merp.models.params.state_field import state_bytes

COUNT_MAX = (1 << 31) - 1  # what a register may have to be compared with: the largest VHDL integer


def engine_settings(design: Design) -> Settings:
    """Registers of the tops that ``design`` sizes, the un-pooling's apart."""
    size, k, d = design.max_size, design.k, design.d
    word = (1 << design.fmt.width) - 1
    images = Setting(1, design.max_images, "images of the run")
    groups = Setting(1, design.groups, "G, groups of output maps")
    last_cus = Setting(1, design.n_cu, "CUs in use in the last group")
    inputs = Setting(1, design.max_maps, "n, input maps")
    stride_words = design.max_stride // k * design.max_maps
    revisit = revisit_cycles(design)
    bundles = {
        "map_config": {
            "images": images,
            "rows": Setting(1, size, "rows of an input map"),
            "columns": Setting(1, size, "columns of an input map"),
            "inputs": inputs,
            "out_rows": Setting(1, size, "rows of the convolution's output"),
            "out_columns": Setting(1, size, "columns of the convolution's output"),
            "groups": groups,
            "last_cus": last_cus,
            "stride": Setting(1, design.max_stride, "stride of the convolution"),
            "pad": Setting(0, k - 1, "zeros around the input map"),
            "rows_mod": Setting(0, k - 1, "rows mod k"),
            "rows_ring": Setting(0, d - 1, "rows div k mod d"),
            "stride_mod": Setting(0, k - 1, "stride mod k"),
            "stride_ring": Setting(0, d - 1, "stride div k mod d"),
            "stride_words": Setting(0, stride_words, "stride div k * n"),
            "pair_rows": Setting(0, 1, "interleaved positions may lie in two rows or images"),
            "rest": Setting(0, longest_rest(design), "idle cycles after a position or sweep"),
            "sweeps": Setting(1, design.kernel_words, "sweeps of a row, n * G"),
            "delta_rest": Setting(0, revisit, "idle cycles after a position's last delta word"),
        },
        "load_config": {"inputs": inputs, "groups": groups, "last_cus": last_cus},
        "output_config": {
            "images": images,
            "rows": Setting(1, size, "rows of the convolution's output"),
            "columns": Setting(1, size, "columns of the convolution's output"),
            "groups": groups,
            "last_cus": last_cus,
            "relu": Setting(0, 1, "ReLU is on"),
            "average": Setting(0, 1, "average pooling, else maximum (1 x 1: no pooling)"),
            "window": Setting(1, design.pool_window, "pooling window"),
            "stride": Setting(1, design.max_stride, "pooling stride"),
            "pooled_rows": Setting(1, size, "rows after pooling"),
            "pooled_columns": Setting(1, size, "columns after pooling"),
            "scale": Setting(0, word, "word of 1 / window^2"),
        },
        "dilate_config": {
            "images": images,
            "rows": Setting(1, size, "rows of a delta map after dilation"),
            "columns": Setting(1, size, "columns of a delta map after dilation"),
            "maps": Setting(1, design.max_maps, "delta maps that come in"),
            "stride": Setting(1, MAX_DILATION, "stride of the layer's convolution"),
        },
        "update_config": {
            "update": Setting(0, 1, "new kernels and biases come out, else their gradients"),
            "rate": Setting(0, word, "word of the learning rate"),
            "momentum": Setting(0, word, "word of the momentum factor"),
        },
    }  # fmt: skip
    return _flattened(bundles)


def unpool_settings(design: UnpoolDesign) -> Settings:
    """Registers of un-pooling, in whichever phase it is built."""
    size, window = design.max_size, design.window
    elements = design.max_images * size**2 * design.max_maps
    all_bytes = state_bytes(elements, design.field_bits)
    fields = {
        "images": Setting(1, design.max_images, "images of the run"),
        "rows": Setting(1, size, "rows of the delta that goes out of un-pooling"),
        "columns": Setting(1, size, "columns of the delta that goes out of un-pooling"),
        "maps": Setting(1, design.max_maps, "maps of that delta"),
        "maximum": Setting(0, 1, "maximum pooling is undone"),
        "average": Setting(0, 1, "average pooling is undone"),
        "relu": Setting(0, 1, "ReLU is undone"),
        "window": Setting(1, window, "pooling window"),
        "area": Setting(1, window**2, "window * window"),
        "stride": Setting(1, size, "pooling stride"),
        "pooled_rows": Setting(1, size, "rows of the delta that comes in"),
        "pooled_columns": Setting(1, size, "columns of the delta that comes in"),
        "delta_words": Setting(1, min(elements, COUNT_MAX), "delta words that come in, in all"),
        "state_bytes": Setting(0, min(all_bytes, COUNT_MAX), "bytes of state, in all"),
        "field_bits": Setting(0, design.field_bits, "bits of a field of the state"),
        "scale": Setting(0, (1 << design.fmt.width) - 1, "word of 1 / window^2"),
    }
    return _flattened({"unpool_config": fields})


def _flattened(bundles: Mapping[str, Settings]) -> Settings:
    return {
        f"{bundle}_{name}": setting
        for bundle, fields in bundles.items()
        for name, setting in fields.items()
    }
