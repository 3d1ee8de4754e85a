"""Traces: `recording` records the work of this process during a trace; the other modules make the files."""
