"""One session of the Debug Adapter Protocol (DAP) for many engines. Each engine has its own debug adapter.

`session` decides how to react to each message of the client (the editor) and of the engines' adapters, without a
socket, a thread or a clock. `breakpoints`, `differences` and `numbers` are parts of `session`. `server` carries out the
decisions of `session`. `messages` reads and writes DAP messages.
"""
