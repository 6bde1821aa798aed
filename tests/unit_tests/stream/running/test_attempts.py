"""Tasks of a running graph."""

from langgraph_once.stream.running.attempts import Tasks


def test_the_steps_of_a_task_are_those_around_it_and_its_own() -> None:
    tasks = Tasks()
    outer, inner = tasks.get("n:1"), tasks.get("n:1|m:2")
    tasks.at_step(outer, 3)
    tasks.at_step(inner, 1)
    assert (outer.steps, inner.steps) == ([3], [3, 1])


def test_another_attempt_runs_in_the_same_step() -> None:
    tasks = Tasks()
    task = tasks.get("n:1")
    tasks.at_step(task, 3)
    tasks.at_step(task, 4)
    assert task.steps == [3]


def test_a_step_that_nobody_told_is_before_all_others() -> None:
    task = Tasks().get("n:1")
    Tasks().at_step(task, None)
    assert task.steps == [-1]
