"""Traces: what this process does while one is on (recording), and the files that are made of it (the rest)."""
