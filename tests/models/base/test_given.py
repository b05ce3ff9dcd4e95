"""What was given is named as whoever gave it wrote it."""

from pathlib import Path

from merp.models.base.given import as_arguments, given, mention, name_of


def test_options_are_named_on_the_command_line() -> None:
    assert name_of("delta_at") == "--delta-at"
    assert (name_of("learning_rate"), name_of("output")) == ("--learning-rate", "-o")
    assert given("batch", 0) == "--batch 0"
    assert given("resume", Path("a b.npz")) == "--resume a b.npz"
    assert mention("engine", "ghdl") == "--engine ghdl"


def test_arguments_are_named_inside_the_library() -> None:
    @as_arguments()
    def said() -> tuple[str, ...]:
        with as_arguments():
            inner = given("part", "x")
        return inner, given("resume", Path("a b.npz")), mention("engine", "ghdl"), name_of("x")

    assert said() == ("part = 'x'", "resume = 'a b.npz'", "engine ghdl", "x")
    assert given("part", "x") == "--part x"


def test_a_value_that_is_long_is_cut_for_python_only_at_the_head() -> None:
    with as_arguments():
        assert len(given("data", list(range(1000)))) < 100
