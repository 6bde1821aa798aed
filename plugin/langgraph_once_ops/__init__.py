"""Operations: what somebody needs who runs a database of threads.

| room | question |
|---|---|
| `survey/` | what is in a database, and how much of it is redundant? |
| `rehearse/` | which waiting threads would a changed graph break? |
| `retention/` | which old threads and checkpoints go? |
| `history/` | what happened in a thread? (`langgraph-once inspect`) |
| `verify.py` | is all sound that a database holds? |
| `encryption.py` | which key does each thing need? How does it come under the newest, or plain? |
| `page/` | what do a stock client and ours have of a run? (the page at `/once`) |
| `validate/` | what is wrong with a checkpoint, or an item of a store? |
| `due.py` | what does a checkpoint say is due? |

`langgraph_once.extensions` finds its commands and routes by their entry points.
"""

from importlib.util import find_spec

from langgraph_once.floors import install_command

if find_spec("rich") is None:
    raise ImportError(f"operations need an extra: {install_command('ops')}")
