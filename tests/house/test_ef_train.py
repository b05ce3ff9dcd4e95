"""The table of plans beside EF-Train is the one that the plans give."""

import ef_train


def test_a_number_that_changed_is_seen_and_the_table_is_as_the_script_writes_it() -> None:
    page = ef_train.PAGE.read_text()
    changed = page.replace(f"| {ef_train.PRINTED_GFLOPS} |", "| 47 |").replace("| `vgg16` |", "| |")
    assert changed != page
    assert ef_train.rewritten(changed) == page, "run python docs/ef_train.py"
    assert (
        f"prints {ef_train.PRINTED_GFLOPS} GFLOPS and {ef_train.PRINTED_GFLOPS_W} GFLOPS/W" in page
    )
    assert f"it answers {ef_train.SCRIPT_GFLOPS} GFLOPS" in page
