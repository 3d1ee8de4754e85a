"""For the tests of all folders."""

import signal

# A shell makes what it starts in the background ignore SIGINT, nohup makes it ignore SIGHUP, and
# children inherit that: tests that send these signals would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
