"""Granted folders by mail to the program itself: `folders`, `grant folder /path`, `revoke folder NAME`.

The rule: a mail can take any grant back, but give one only below the folders that `files.by_mail` names: who has an
account here need not be who owns the machine.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agents.folders import grants
from agents.folders.grants import Folder, Wish
from agents.folders.rules import NotGranted, folded
from bridge.post.shown import visible
from config.settings import Settings
from mailstore.sqlite import WriteTx

_LIST: Final = frozenset({"folders", "folder", "granted folders"})
_REVOKE: Final = re.compile(r"revoke folder ([a-z0-9-]{1,40})", re.IGNORECASE)
_GRANT: Final = re.compile(r"grant folder (\S[^\n]{0,1000})((?:\n[^\n]{0,200}){0,6})", re.IGNORECASE)
_LINE: Final = re.compile(r"(name|write|agent|own)\s*:\s*(\S.*)", re.IGNORECASE)
_YES: Final = frozenset({"yes", "true", "on"})
_CLI: Final = "Whoever runs this Postroom grants it with `postroom folders grant PATH`."


def obey(tx: WriteTx, settings: Settings, account: int, words: str, by: str, via: str) -> str | None:
    """Do what the words say; the answer, or None when they are about something else."""
    plain = " ".join(words.split()).strip(" .!")
    if plain.lower() in _LIST:
        return listed(grants.of_account(tx, account))
    if found := _REVOKE.fullmatch(plain):
        name = found[1].lower()
        if grants.revoke(tx, tx.now, account, name, by, via):
            return f"The folder {name} was taken back: no agent reaches it any more."
        return f"There is no granted folder {name}; nothing was changed."
    if found := _GRANT.fullmatch(words.strip()):
        return _grant(tx, settings, account, (found[1].strip(), found[2]), by, via)
    return None


def listed(folders: Sequence[Folder]) -> str:
    """Every granted folder, as Markdown."""
    if not folders:
        return "No folder is granted: agents reach none of your files."
    how = 'To take one back, write "revoke folder" and its name to this address.'
    return "\n".join([*map(described, folders), "", how])


def described(folder: Folder) -> str:
    """One grant in a line."""
    may = "read and write (each file asks)" if folder.writes else "read"
    own = ", as your own words" if folder.own else ""
    return f"- {folder.name}: {visible(str(folder.path))}, {folder.agent or 'every agent'} may {may}{own}"


def _grant(tx: WriteTx, settings: Settings, account: int, said: tuple[str, str], by: str, via: str) -> str:
    path, rest = said
    more: dict[str, str] = {}
    for line in rest.strip().splitlines():
        read = _LINE.fullmatch(line.strip())
        if line.strip() and read is None:
            return f'Nothing was granted: "{visible(line.strip())}" is none of the lines name:, agent:, write:, own:.'
        if read is not None:
            more[read[1].lower()] = read[2].strip().lower()
    agent = more.get("agent", grants.EVERY_AGENT)
    if agent and agent not in settings.agents:
        return f"Nothing was granted: there is no agent {visible(agent)}."
    try:
        _refuse_elsewhere(path, settings.files.by_mail)
        wish = Wish(account, path, more.get("name", ""), agent, more.get("write") in _YES, more.get("own") in _YES)
        made = grants.grant(tx, tx.now, wish, settings.home, by, via)
    except NotGranted as no:
        return f"Nothing was granted: {no.why}."
    return f"Granted:\n\n{described(made)}"


def _refuse_elsewhere(path: str, roots: Sequence[Path]) -> None:
    """Raises NotGranted for a path that no mail may grant, without saying whether it exists."""
    if not roots:
        raise NotGranted(f"no folder can be granted by mail here. {_CLI.rstrip('.')}")
    real = os.path.realpath(path)
    wide = [folded(str(part)) for part in Path(real).parts]
    for root in roots:
        parts = [folded(str(part)) for part in Path(os.path.realpath(root)).parts]
        if wide[: len(parts)] == parts:
            return
    raise NotGranted(f"{path} is not below a folder that can be granted by mail. {_CLI.rstrip('.')}")
