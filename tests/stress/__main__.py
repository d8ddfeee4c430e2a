"""`python -m tests.stress --seconds 60 --seed 1 --extensions all`: the crowd against a Postroom of its own."""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.stress.crowd import run
from tests.stress.serving import served


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--extensions", choices=("default", "all", "both"), default="both")
    wanted = parser.parse_args()
    for extensions in ("default", "all") if wanted.extensions == "both" else (wanted.extensions,):
        print(
            f"{wanted.clients} clients, {wanted.seconds:g} s, {extensions} extensions, seed {wanted.seed}", flush=True
        )
        with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "home", extensions) as port:
            tally = asyncio.run(run(port, clients=wanted.clients, seconds=wanted.seconds, seed=wanted.seed))
        print(f"  {tally.commands:,} commands, {tally.lines:,} lines, {tally.cuts:,} cut connections, no surprise")


if __name__ == "__main__":
    main()
