"""Stock front ends before wrapped graphs and plain ones: what does a person see?

graphs/          the zoo: small graphs, each of which says a thing in its own way
server           one `langgraph dev` with each of them plain and wrapped
recording        what a client showed: a list of messages for every moment
python_clients   clients of Python, as people write them
javascript/      npm packages, each with a program that records it
javascript_clients  installs and runs those
history          what the states of a thread say that a client had to show
judge            a recording against that: faults of each kind
play             every front end with every graph, plain and wrapped
traffic          what a token costs on the wire
report           `python -m tests.clients.report`: writes build/proof/clients.md
"""
