"""Names that scripts and packages for ipyparallel import from it."""
