"""A small library on exactly-once processing: what the tools find and the script quotes."""

from dataclasses import dataclass

__all__ = ["LIBRARY", "Entry", "look_up"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is known about a topic. No two texts of the library are equal."""

    summary: str
    """What the scripted researcher writes about it."""
    lesson: str
    """The sentence that the scripted report gives to it."""
    pitfall: str
    sources: tuple[str, ...]


def look_up(topic: str) -> Entry:
    """The entry on `topic`, or one that says that there is none: a user may edit the topics."""
    return LIBRARY.get(topic.strip().casefold()) or Entry(
        summary=(
            f"The library holds nothing on {topic} yet. Two searches came back empty, which says "
            "more about the shelves than about the subject, so this note claims nothing and "
            "only records that somebody looked."
        ),
        lesson=f"On {topic} the evidence is still missing, and the report leaves that gap open.",
        pitfall=f"No pitfall of {topic} is on record.",
        sources=(),
    )


LIBRARY = {
    "idempotent consumers": Entry(
        summary=(
            "An idempotent consumer makes a second delivery harmless: it stores the identifier "
            "of each message in the same transaction as the effect, and skips whatever it has "
            "already stored. The price is one indexed lookup per message and a retention rule."
        ),
        lesson=(
            "Idempotent consumers belong in every design, because networks retry and only the "
            "receiver can tell a repeat from a new request."
        ),
        pitfall=(
            "Identifiers kept in a cache are lost on restart, and the repeats that follow are "
            "processed as new."
        ),
        sources=(
            "Hohpe and Woolf, Enterprise Integration Patterns, 2003",
            "Helland, Idempotence Is Not a Medical Condition, 2012",
        ),
    ),
    "offset tracking": Entry(
        summary=(
            "Offset tracking records how far a reader has come. When the offset is committed "
            "together with the results, a restarted reader continues exactly where it stopped; "
            "when it is committed earlier or later, the gap turns into lost or repeated work."
        ),
        lesson=(
            "Offset tracking keeps readers honest, since a position saved apart from its results "
            "is a promise that the next crash will break."
        ),
        pitfall=(
            "Automatic commits run on a timer, so a crash between two ticks replays or drops a "
            "batch."
        ),
        sources=(
            "Kreps, Narkhede and Rao, Kafka: a Distributed Messaging System, 2011",
            "Kleppmann, Designing Data-Intensive Applications, 2017",
        ),
    ),
    "transactional outbox": Entry(
        summary=(
            "A transactional outbox writes the outgoing message into a table, within the "
            "transaction that changes the data. A relay publishes the rows afterwards, at least "
            "once, so that no change goes unannounced and no announcement lacks its change."
        ),
        lesson=(
            "The transactional outbox settles the producer's side: state and message commit as "
            "one, and the relay may safely try again."
        ),
        pitfall=(
            "A relay that deletes rows before the broker confirms them loses messages without a "
            "trace."
        ),
        sources=(
            "Richardson, Microservices Patterns, 2018",
            "Helland, Life beyond Distributed Transactions, 2007",
        ),
    ),
    "fencing tokens": Entry(
        summary=(
            "A fencing token is a number that grows with every lease. The storage remembers the "
            "highest token it has seen and refuses lower ones, so a paused worker that wakes up "
            "late cannot overwrite what its successor has already done."
        ),
        lesson=(
            "Fencing tokens guard the writers, because a lease alone cannot stop a process that "
            "does not know that it has expired."
        ),
        pitfall=(
            "A token that only the client checks protects nothing, as the pause may come after "
            "the check."
        ),
        sources=(
            "Burrows, The Chubby Lock Service, 2006",
            "Kleppmann, How to Do Distributed Locking, 2016",
        ),
    ),
    "deduplication windows": Entry(
        summary=(
            "A deduplication window bounds the memory of a receiver: identifiers are kept for a "
            "fixed time or count, then forgotten. It suits senders whose retries end soon, and "
            "it should outlast the longest outage that a sender is meant to survive."
        ),
        lesson=(
            "Deduplication windows make the bookkeeping affordable, provided that they are "
            "longer than the slowest retry anyone may send."
        ),
        pitfall="A window measured by the receiver's clock shrinks when that clock jumps forward.",
        sources=(
            "Metwally, Agrawal and El Abbadi, Duplicate Detection in Click Streams, 2005",
            "Akidau et al., MillWheel, 2013",
        ),
    ),
    "consistent snapshots": Entry(
        summary=(
            "A consistent snapshot captures the state of every operator at one logical moment, "
            "marked by barriers that travel with the data. After a failure all operators return "
            "to it, and replayed input rebuilds the results without counting anything twice."
        ),
        lesson=(
            "Consistent snapshots tie the stages together, so that a failure rewinds the whole "
            "pipeline and not one part of it."
        ),
        pitfall=(
            "Effects outside the pipeline are not rewound, so its sinks need transactions or "
            "idempotent writes of their own."
        ),
        sources=(
            "Chandy and Lamport, Distributed Snapshots, 1985",
            "Carbone et al., Lightweight Asynchronous Snapshots for Distributed Dataflows, 2015",
        ),
    ),
}
"""The entries by topic, in the order in which the scripted plan prefers them."""
