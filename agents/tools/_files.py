"""What the file tools share: finding the granted folder of a path, at the moment of its use.

The rule: an agent names a folder by its granted name and never sees where it is; a path outside of a grant is refused
before anything is opened.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.folders import grants, rules
from agents.folders.grants import Folder
from agents.folders.rules import NotGranted
from agents.ports import Database, ReadTx
from agents.profile import Profile
from agents.tool import ToolContext, ToolFailed


@dataclass(frozen=True, slots=True)
class Place:
    """A path taken apart: the granted folder, and the names in it."""

    folder: Folder
    names: tuple[str, ...]


def granted(tx: ReadTx, account: int, profile: Profile, writes: bool = False) -> bool:
    """Whether an agent has any folder (to write to)."""
    return any(folder.writes or not writes for folder in grants.open_to(tx, account, profile.name))


def read_path(path: str) -> tuple[str, ...]:
    """The names of a path. Raises ToolFailed."""
    try:
        return rules.parts(path)
    except NotGranted as no:
        raise ToolFailed(f"path: {no.why}.") from None


def place(db: Database, ctx: ToolContext, path: str) -> Place:
    """Where a path leads for the agent of a run. Raises ToolFailed."""
    names = read_path(path)
    there = db.read(lambda tx: grants.open_to(tx, ctx.account, ctx.agent))
    folder = next((each for each in there if each.name == names[0]), None)
    if folder is None:
        raise ToolFailed(f'path: there is no granted folder "{names[0]}". {known(there)}')
    return Place(folder, names[1:])


def known(there: Sequence[Folder]) -> str:
    """Which folders there are, for a model."""
    if not there:
        return "No folder is granted."
    return (
        "There is: " + ", ".join(f"{each.name} ({'read and write' if each.writes else 'read'})" for each in there) + "."
    )
