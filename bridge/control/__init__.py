"""Control: how the command line talks to a running server, over a Unix socket that only its owner can reach.

The rule: a command is one function over the server's parts, and runs the same beside a running server (through the
socket) and without one (in the command's own process).
"""
