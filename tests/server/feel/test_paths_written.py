from server import feel


def written(text: str) -> set[tuple[str, ...]]:
    return set(feel.written_paths(text, "a"))


def test_the_keys_behind_a_variable_are_found_wherever_they_stand() -> None:
    assert written("a.b.c > 1 and sum([a.d, x.a.e]) > a.b.c.f") == {("b", "c"), ("d",), ("b", "c", "f")}


def test_a_variable_that_is_read_as_a_whole_has_no_keys() -> None:
    assert written("a = null") == {()}
    assert written("a[1].b") == {()}


def test_a_filter_of_a_path_ends_it() -> None:
    assert written("a.b[c > 1].d") == {("b",)}


def test_other_variables_have_no_paths() -> None:
    assert written("b.a + c") == set()
