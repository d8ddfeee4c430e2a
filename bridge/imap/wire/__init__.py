"""IMAP wire syntax, sans-IO: bytes in, values out, bytes out. Imports nothing outside this package.

`framer` cuts commands, `cursor` reads them, `render` and `codes` write answers, `seqset` and `utf7` hold the two
notations that both directions share.
"""
