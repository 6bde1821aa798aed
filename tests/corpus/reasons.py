"""What a filter cannot know: for each scenario that `dedup` alone does not get right, why.

`once(graph)` gets all of them right; it sees the runs, not only their chunks. A reason names
the variants it holds for; in all others the filter must be right, and in those it names it
must really fail today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tests.corpus.variants import Variant


class Reason(NamedTuple):
    """Why a filter gets something wrong, and where."""

    why: str
    where: str
    holds: Callable[[Variant], bool]


def streams(variant: Variant) -> bool:
    return "messages" in variant.modes


def streams_alone(variant: Variant) -> bool:
    """No other mode tells the reader of `messages` what the state holds."""
    return streams(variant) and (variant.modes == ("messages",) or variant.state == "full")


def shows_graphs(variant: Variant) -> bool:
    return variant.subgraphs


def updates_unnamed(variant: Variant) -> bool:
    """Without `messages` nothing gives a message its id before its update goes out."""
    return "updates" in variant.modes and not streams(variant)


def tells_no_node(variant: Variant) -> bool:
    """A state comes without the update that would name the node."""
    return "values" in variant.modes and "updates" not in variant.modes


ALONE = "`messages` alone", streams_alone
STREAMED = "`messages`", streams
BELOW = "subgraphs", shows_graphs
UNSIGNED = "`values` without `updates`", tells_no_node
UNNAMED = "`updates` without `messages`", updates_unnamed

RAISED = Reason(
    "A hand-off is raised past LangGraph's handler: no chunk of `messages` carries it.", *ALONE
)
EDITED = Reason(
    "LangGraph drops a message whose id it has sent, even with new content: no chunk has it.",
    *ALONE,
)
REMOVED = Reason("LangGraph drops removals: no chunk of `messages` has one.", *ALONE)
KEPT = Reason(
    "LangGraph sends `remove all`, but not the kept messages, whose ids it has sent.",
    *ALONE,
)
NAMELESS = Reason(
    "The update goes out before the reducer gives its message an id; what is edited or "
    "removed later has one that the reader never saw.",
    *UNNAMED,
)
UNWALKED = Reason(
    "LangGraph's handler does not find the message there: no chunk of `messages` carries it.",
    *ALONE,
)
UNWALKED_INSIDE = UNWALKED._replace(
    where="`messages` alone, with subgraphs",
    holds=lambda variant: streams_alone(variant) and shows_graphs(variant),
)
UNRUN = Reason("No node runs, so nothing of it is in `messages`.", *ALONE)
ONE_SEEN_SET = Reason(
    "LangGraph drops the message, as another task sent one with this id: no chunk carries it.",
    *ALONE,
)
UNSEEN_INPUT = Reason(
    "Only a state shows the input; in `messages` an echo looks like something new.", *ALONE
)
GIVEN_UNNAMED = Reason(
    "An input message without an id comes back under an id: it looks new.",
    *STREAMED,
)
OTHER_SPACE = Reason(
    "LangGraph's chunks do not show whether the streamed answer is in the state, too.",
    *STREAMED,
)
OTHER_SPACE_INSIDE = Reason(
    "The same text with other white space may be somebody else's; only the run knows its copies.",
    *BELOW,
)
TWO_ANSWERS = Reason(
    "A node that asks twice also sends two complete answers (trap `asked-twice`): only the "
    "run knows the attempt.",
    *STREAMED,
)
BROKEN_OFF = Reason(
    "An answer that breaks off and another one of the same task may as well be two models "
    "side by side.",
    *STREAMED,
)
GIVEN_UP = Reason(
    "An answer that broke off may be all that was said: nothing tells that nobody asks again.",
    *STREAMED,
)
GIVEN_UP_INSIDE = GIVEN_UP._replace(
    where="`messages` of the graphs inside",
    holds=lambda variant: streams(variant) and shows_graphs(variant),
)
TOLD_LATE = Reason(
    "Complete blocks of an answer that broke off are repeated before the second answer can "
    "be distinguished from another model's; then the first is taken back.",
    *STREAMED,
)
TWO_RUNS = Reason(
    "A graph that a node runs a second time has the same namespace, tried again or wanted "
    "(trap `graph-run-twice-equal`).",
    *BELOW,
)
GROWING = Reason(
    "A chunk that begins with all that came before it may be meant: `ha`, `haha`.", *ALONE
)

WRITTEN = Reason(
    "A state does not show who wrote a message: a node may repeat another's text on purpose.",
    *UNSIGNED,
)
WRITTEN_INSIDE = WRITTEN._replace(
    where="`messages` and `values` of the graphs inside, without `updates`",
    holds=lambda variant: streams(variant) and tells_no_node(variant) and shows_graphs(variant),
)
CALLING = Reason(
    "Updates do not show which task called another: two tasks may have the same text.",
    *UNNAMED,
)


def _of(reasons: tuple[Reason, ...], names: Iterable[str]) -> dict[str, tuple[Reason, ...]]:
    return dict.fromkeys(names, reasons)


REASONS: dict[str, tuple[Reason, ...]] = {
    **_of(
        (RAISED,),
        (
            "handed-message",
            "handed-pair",
            "handed-result",
            "handed-list-of-pairs",
            "handed-after-a-step",
            "handed-in-subgraph",
        ),
    ),
    **_of(
        (EDITED,),
        (
            "edited-by-next-node",
            "edited-by-itself",
            "edited-twice",
            "edited-arguments",
            "edited-by-human",
            "edited-from-child",
            "edited-from-parent",
        ),
    ),
    **_of((EDITED, NAMELESS), ("edited-unstreamed", "edited-copy", "edited-in-later-turn")),
    **_of(
        (REMOVED,),
        ("removed-answer", "summarized", "removed-in-child", "removed-and-said-again"),
    ),
    **_of((EDITED, WRITTEN), ("dict-copied-edited", "pair-copied-edited")),
    **_of((EDITED, WRITTEN_INSIDE), ("dict-copied-edited-in-a-graph",)),
    **_of((REMOVED, WRITTEN), ("dict-copied-removed",)),
    **_of((KEPT,), ("summarized-and-kept",)),
    **_of((REMOVED, NAMELESS), ("removed-unstreamed", "removed-copy", "removed-in-later-turn")),
    **_of((UNWALKED_INSIDE,), ("sent-in-child",)),
    **_of(
        (UNWALKED,),
        (
            "sent-message",
            "sent-to-workers",
            "in-dict",
            "in-dict-in-list",
            "in-typed-dict",
            "in-model",
            "in-dataclass",
            "overwritten",
            "overwritten-as-dict",
            "delta-channel",
            "returned-nested",
            "returned-final-dict",
            "as-dict",
            "as-typed-dict",
            "as-pair",
            "as-lone-pair",
            "as-string",
            "as-lone-string",
            "as-lone-dict",
            "as-mixture",
            "command-of-pairs",
            "command-of-tuples",
            "dict-constant",
            "dict-constant-in-two-turns",
            "dict-edited",
        ),
    ),
    **_of((UNRUN,), ("cached-node",)),
    **_of((RAISED, WRITTEN_INSIDE), ("handed-copy",)),
    **_of((ONE_SEEN_SET,), ("equal-ids-returned", "equal-ids-and-texts", "equal-ids-in-graphs")),
    **_of(
        (UNSEEN_INPUT,),
        (
            "echoed-list-state",
            "echoed-payload-list",
            "echoed-payload-message",
            "echoed-nested-input",
            "history-sent",
        ),
    ),
    **_of((GIVEN_UNNAMED,), ("nameless-list", "nameless-copied", "nameless-trimmed")),
    **_of(
        (UNSEEN_INPUT,),
        (
            "unseen-history",
            *(
                f"raw-in-{where}-{form}"
                for where in ("subgraph", "function")
                for form in ("string", "pair", "dict")
            ),
        ),
    ),
    **_of(
        (OTHER_SPACE,),
        (
            "copied-stripped",
            "copied-stripped-under-own-id",
            "copied-stripped-as-pair",
            "copied-lengthened",
            "copied-rewrapped",
        ),
    ),
    **_of((OTHER_SPACE_INSIDE,), ("copied-stripped-by-parent",)),
    **_of(
        (TWO_ANSWERS,),
        (
            "retried-after-text",
            "retried-copy",
            "retried-other-text",
            "retried-two-models",
            "timed-out",
        ),
    ),
    **_of((BROKEN_OFF,), ("with-fallbacks", "with-fallbacks-named", "with-fallbacks-unnamed")),
    **_of((TOLD_LATE,), ("retried-blocks",)),
    **_of(
        (GIVEN_UP,),
        ("cancelled-for-good", "handled", "handled-by-a-model", "handled-after-retries"),
    ),
    **_of((GIVEN_UP_INSIDE,), ("handled-in-a-graph",)),
    **_of(
        (TWO_RUNS,),
        (
            "dict-retried",
            "retried-subgraph",
            "retried-around-child",
            "retried-around-wrapped-child",
            "retried-around-other-text",
            "retried-two-levels",
        ),
    ),
    **_of((GROWING,), ("each-accumulated",)),
    **_of(
        (WRITTEN,),
        (
            "copied-as-pair",
            "dict-copied",
            "streamed-and-kept-in-dict",
            "wrapped-copied",
            "wrapped-said",
            "wrapped-twice",
            "wrapped-under-a-graph",
            "wrapped-call",
            "wrapped-as-human",
            "wrapped-in-parallel",
            "wrapped-both-texts",
        ),
    ),
    **_of((CALLING,), ("wrapped-task",)),
}
