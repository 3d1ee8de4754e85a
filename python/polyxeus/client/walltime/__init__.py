"""Handles the end of the batch jobs in which engines run: reports the end, warns the user, saves
variables and starts new jobs.

`batch_systems` reads the output of the batch systems' commands. `plan` decides which steps are due,
and `watch` takes these steps in a thread of the client. `keeper` saves variables and starts the
engines in a new job. While `keeper` works, `gate` makes the calls of the client wait.
"""
