"""What scripts and packages that were written for ipyparallel import from it."""
