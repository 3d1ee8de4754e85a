"""Names that scripts and packages import from ipyparallel."""
