"""The graphs that wait for a person, as `langgraph dev` takes them: made where they are served."""

from tests.integration_tests.approval_graphs import APPROVALS

for name, approval in APPROVALS.items():  # the server looks names up in the module's dictionary
    globals()[name] = approval.graph()
