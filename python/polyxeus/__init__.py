"""polyxeus: an interactive parallel computing cluster that speaks ipyparallel's protocol."""

__version__ = "0.1.0"
