"""Text that grows, and views of it."""

from __future__ import annotations

from hypothesis import given, strategies as st

from langgraph_once.events.vocabulary import Growing, SoFar


@given(st.lists(st.text(max_size=3)), st.data())
def test_each_view_keeps_what_it_saw_in_whatever_order_they_are_read(
    pieces: list[str], data: st.DataObject
) -> None:
    growing = Growing()
    views = [growing.add(piece) for piece in pieces]
    for at in data.draw(st.permutations(range(len(pieces)))):
        assert str(views[at]) == "".join(pieces[: at + 1])
    assert str(growing) == "".join(pieces)


def test_views_are_equal_by_their_text() -> None:
    growing = Growing("a")
    assert growing.so_far() == SoFar.of("a")
    assert growing.add("b") != SoFar.of("a")
    assert hash(growing.so_far()) == hash(SoFar.of("ab"))
    assert SoFar.of("a") != "a"


def test_a_view_costs_no_copy_of_the_text() -> None:
    """By counting, not by the clock: a hundred thousand views share one list of pieces."""
    growing = Growing()
    views = [growing.add("x") for _ in range(100_000)]
    assert len(growing) == 100_000
    assert len(str(views[-1])) == 100_000
    assert len(str(views[10])) == 11
