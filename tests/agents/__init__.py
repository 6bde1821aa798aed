"""Agents that users run, on the real classes of two providers and their three wires."""
