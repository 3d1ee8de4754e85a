"""Handles the end of the batch jobs in which engines run: reports the end, warns the user, saves variables, starts new
jobs.

`batch_systems` reads the output of the commands of batch systems; `plan` decides which steps are due; `watch` takes
these steps in a thread of the client; `keeper` saves variables and starts the engines in a new job; `gate` makes calls
wait in the meantime.
"""
