"""CNN-MERP's phases: top, run, expectation and ports of each."""
