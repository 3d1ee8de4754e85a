"""Functions and classes that scripts and packages import from ipyparallel."""
