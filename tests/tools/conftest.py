"""What tests of verbs share."""

import pytest

from simulated_records import OF_HARDWARE


@pytest.fixture
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """All hardware is that of the records of ``simulated_records``."""
    monkeypatch.setattr("merp.tools.report.measurement.hardware_sha", lambda *_, **__: OF_HARDWARE)
