"""The command line. Its rule: a command imports what it needs when it runs, so that every one starts quickly.

Exit codes: 0 done, 1 not done or a check failed, 2 wrong usage or configuration, 3 the data folder is in use or the
server is needed and not there, 130 interrupted.
"""


def main() -> None:
    """The program `postroom`."""
    from bridge.cli.program import run

    raise SystemExit(run())
