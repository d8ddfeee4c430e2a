"""`python -m bridge.cli` is `postroom`."""

from bridge.cli import main

main()
