"""For the tests of all folders."""

import signal

# A shell makes what it starts in the background ignore SIGINT, and children inherit that: tests
# that interrupt would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
