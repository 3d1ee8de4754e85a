"""One session of the Debug Adapter Protocol (DAP) for many engines. Each engine has its own debug adapter.

`session` decides how to react to each message of the client (the editor) and of the engines'
adapters. This module has no socket, thread or clock. `session` uses the modules `breakpoints`,
`differences`, `numbers`, `requests` and `shared_variables`. `server` carries out the decisions of
`session`. `messages` reads and writes DAP messages.
"""
