from tests.canary.newest import behind, installed


def test_a_package_that_is_older_or_unknown_to_the_index_is_behind() -> None:
    got = {"langchain-core": "1.7.2", "langgraph": "1.2.24", "langsmith": "0.15.1"}
    assert behind(got, {"langchain-core": "1.8.2", "langgraph": "1.2.24"}) == [
        "langchain-core",
        "langsmith",
    ]


def test_the_packages_asked_for_are_those_of_upstream_that_are_installed() -> None:
    got = installed()
    assert {"langgraph", "langgraph-api", "langgraph-checkpoint-sqlite"} <= got.keys()
    assert {"langchain", "langchain-core", "langgraph-cli", "langgraph-sdk"} <= got.keys()
    assert "langgraph-once" not in got
