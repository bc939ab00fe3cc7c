from edge.console.pages.starts import TEST_RUN
from server.engine.test_runs import TAG


def test_the_engine_knows_the_tag_that_the_console_gives_to_test_runs() -> None:
    assert TEST_RUN == TAG
