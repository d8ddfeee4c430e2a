"""Skills and plugins as ZIP files: looked through whole, then put into the data folder in one step.

The rule: nothing is written before everything was checked: sizes as they unpack, names without a way out, no links,
every SKILL.md as strictly as at a start. What an archive holds that is not used here is told, never dropped silently.
"""

import io
import json
import re
import shutil
import stat
import unicodedata
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents import archive, skills
from agents.archive import Broken
from agents.skills import SkillInvalid
from config.paths import DataFolder, write_private

MAX_PACKED: Final = 20 * 1024 * 1024
MAX_UNPACKED: Final = 50 * 1024 * 1024
MAX_FILES: Final = 256
MAX_DEPTH: Final = 8
MANIFESTS: Final = (".claude-plugin/plugin.json", "plugin.json")
_LITTER: Final = ("__MACOSX", ".DS_Store", "Thumbs.db", ".git")
_UNUSED: Final = {
    "commands": "slash commands are not used: write to the skill's address instead",
    "agents": "agent definitions are not used: only skills are",
    "hooks": "hooks are not used: nothing of a plugin runs by itself",
    "output-styles": "output styles are not used",
    "scripts": "scripts are kept, but no tool runs them",
}
_SERVERS: Final = ".mcp.json"
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Names that are no files on Windows."""

_NEW, _OLD = ".new", ".old"
_ROOT: Final = "${CLAUDE_PLUGIN_ROOT}"


class Refused(Exception):
    """An archive that is not taken; `why` is a whole sentence without its full stop."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Bundle:
    """A checked archive. `name` is that of the plugin, or empty; `skills` are names, `files` paths below `skills/` (or
    below the plugin), `servers` what its .mcp.json says, `unused` what is told about the rest.
    """

    name: str
    skills: tuple[str, ...]
    files: Mapping[str, bytes]
    servers: Mapping[str, Any]
    unused: tuple[str, ...]


def read(data: bytes) -> Bundle:
    """Look through a ZIP file. Raises Refused."""
    if len(data) > MAX_PACKED:
        raise Refused(f"it is larger than {MAX_PACKED // 1024 // 1024} MiB")
    files = _without_wrapper(_unpacked(data))
    manifest = next((path for path in MANIFESTS if path in files), None)
    if manifest is not None:
        return _plugin(files, manifest)
    found = {_folder_of(path) for path in files if path.rpartition("/")[2] == skills.FILE}
    if not found:
        raise Refused("there is no SKILL.md and no plugin.json in it")
    placed = _placed(files, found)
    return Bundle("", _checked(placed), placed, {}, ())


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Every file by its path. Raises Refused."""
    files: dict[str, bytes] = {}
    try:
        with archive.opened(data) as packed:
            infos = [info for info in packed.infolist() if not info.is_dir() and not _is_litter(info.filename)]
            if len(infos) > MAX_FILES:
                raise Refused(f"it has more than {MAX_FILES} files")
            left = MAX_UNPACKED
            for info in infos:
                path = _path(info)
                if any(_clash(_folded(path), _folded(known)) for known in files):
                    raise Refused(f"{path} stands in it twice")
                files[path] = archive.member(packed, info, left)
                left -= len(files[path])
    except Broken as fault:
        if "unpacks to more" in fault.why:
            raise Refused(f"it unpacks to more than {MAX_UNPACKED // 1024 // 1024} MiB") from None
        raise Refused(fault.why) from None
    return files


def _folded(path: str) -> str:
    """One spelling for all that are one name on some system: in any case, composed or not."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _clash(one: str, other: str) -> bool:
    """Whether two paths are one place, or one is a folder of the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _is_litter(name: str) -> bool:
    return any(part in _LITTER for part in name.split("/"))


def _path(info: zipfile.ZipInfo) -> str:
    """The path of an entry, if it is one that stays inside. Raises Refused."""
    name, shown = info.filename, ascii(info.filename)
    mode = info.external_attr >> 16
    if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
        raise Refused(f"{shown} is a link or a device")
    parts = name.split("/")
    odd = name.startswith("/") or "\\" in name or ":" in name or not name.isprintable() or "\0" in info.orig_filename
    if odd or any(_is_odd(part) for part in parts):
        raise Refused(f"{shown} leads out of its folder, or is no plain name")
    if len(parts) > MAX_DEPTH or len(name) > 240:
        raise Refused(f"{shown} is too deep or too long")
    return name


def _is_odd(part: str) -> bool:
    """Whether a name is none somewhere: what Windows drops at its end, and what it takes for a device."""
    return not part or part != part.strip(" ") or part.endswith(".") or _DEVICE.fullmatch(part) is not None


def _without_wrapper(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files without one folder around them all, if that folder is neither a skill nor `skills` itself."""
    tops = {path.partition("/")[0] for path in files}
    top = next(iter(tops), "")
    if len(tops) != 1 or f"{top}/{skills.FILE}" in files or top in ("skills", ".claude-plugin") or top in files:
        return files
    return _without_wrapper({path.partition("/")[2]: data for path, data in files.items()})


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _placed(files: Mapping[str, bytes], found: set[str]) -> dict[str, bytes]:
    """The files of each skill below its own name; a skill at the top has the name that its SKILL.md says."""
    placed: dict[str, bytes] = {}
    names: set[str] = set()
    for folder in sorted(found):
        inside = {path: data for path, data in files.items() if not folder or path.startswith(f"{folder}/")}
        name = folder.rpartition("/")[2] or _own_name(inside[skills.FILE])
        if name in names:
            raise Refused(f"the skill {name} stands in it twice")
        names.add(name)
        for path, data in inside.items():
            placed[f"{name}/{path[len(folder) + 1 :] if folder else path}"] = data
    return placed


def _own_name(raw: bytes) -> str:
    try:
        return skills.parse_skill(raw.decode("utf-8-sig"), skills.FILE).name
    except UnicodeDecodeError:
        raise Refused(f"{skills.FILE} is not UTF-8 text") from None
    except SkillInvalid as fault:
        raise Refused(str(fault)) from None


def _checked(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The names of the skills `NAME/SKILL.md`, each as strictly read as at a start. Raises Refused."""
    names = sorted(
        path.partition("/")[0] for path in files if path.count("/") == 1 and path.endswith(f"/{skills.FILE}")
    )
    for name in names:
        own = _own_name(files[f"{name}/{skills.FILE}"])
        if own != name:
            raise Refused(f'{name}/{skills.FILE} says that its name is "{own}"; name and folder must agree')
    return tuple(names)


def _plugin(files: Mapping[str, bytes], manifest: str) -> Bundle:
    about = _json(files[manifest], manifest)
    name = about.get("name")
    if not isinstance(name, str) or skills.NAME.fullmatch(name) is None:
        raise Refused(f"{manifest}: name must be lower-case letters, digits and hyphens")
    below = {path.removeprefix("skills/"): data for path, data in files.items() if path.startswith("skills/")}
    tops = {path.partition("/")[0] for path in files}
    unused = [f"{top}/: {_UNUSED[top]}" for top in sorted(tops & _UNUSED.keys())]
    if about.get("skills") not in (None, "./skills", "./skills/", "skills"):
        unused.append(f"{manifest}: skills: only those in skills/ are taken")
    return Bundle(name, _checked(below), files, _told_servers(files, about.get("mcpServers")), tuple(unused))


def _told_servers(files: Mapping[str, bytes], named: object) -> dict[str, Any]:
    """The servers of a plugin: those that its manifest holds or names the file of, else those of its .mcp.json."""
    place = _place_of_servers(named)
    if isinstance(named, str) and place not in files:
        raise Refused(f"{place} is named as the file of its servers and is not in it")
    told = named
    if not isinstance(named, dict):
        tree = _json(files[place], place) if place in files else {}
        told = tree.get("mcpServers", {})
    if not isinstance(told, dict) or not isinstance(named, dict | str | None):
        raise Refused("mcpServers must be an object")
    return told


def _place_of_servers(named: object) -> str:
    """The file of a plugin's servers, which its manifest may name."""
    return named.removeprefix("./") if isinstance(named, str) else _SERVERS


def _json(raw: bytes, place: str) -> dict[str, Any]:
    try:
        tree = json.loads(raw)
    except (ValueError, RecursionError):
        raise Refused(f"{place} is not JSON") from None
    if not isinstance(tree, dict):
        raise Refused(f"{place} is no JSON object")
    return tree


def install(bundle: Bundle, folder: DataFolder, replace: bool = False) -> None:
    """Put a bundle into the data folder: each skill, or the plugin, appears whole or not at all. Raises Refused."""
    base = folder.plugins if bundle.name else folder.skills
    names = (bundle.name,) if bundle.name else bundle.skills
    mend(folder)
    if (there := [name for name in names if (base / name).exists()]) and not replace:
        raise Refused(f"{', '.join(there)} is there already; say --replace to put this in its place")
    servers = _new_servers(bundle, folder, replace)
    for name in names:
        inside = bundle.files if bundle.name else _below(bundle.files, name)
        _put(base, name, inside)
    if servers:
        _write_servers(folder, servers)


def _below(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    return {path.removeprefix(f"{name}/"): data for path, data in files.items() if path.startswith(f"{name}/")}


def _put(base: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Write beside the place, then move there."""
    beside, old = base / f".{name}{_NEW}", base / f".{name}{_OLD}"
    for path, data in files.items():
        write_private(beside / path, data)
    if (base / name).exists():
        (base / name).rename(old)
    beside.rename(base / name)
    shutil.rmtree(old, ignore_errors=True)


def mend(folder: DataFolder) -> None:
    """Finish what an import left that was cut off: what was half written goes, what was moved aside comes back."""
    for base in (folder.skills, folder.plugins):
        for left in base.glob(f".*{_NEW}"):
            shutil.rmtree(left, ignore_errors=True)
        for old in base.glob(f".*{_OLD}"):
            place = base / old.name[1 : -len(_OLD)]
            if place.exists():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.rename(place)


def remove(name: str, folder: DataFolder) -> str:
    """Take a skill of the user's, or a plugin with its servers, away. Returns which it was. Raises Refused."""
    if skills.NAME.fullmatch(name) is None:
        raise Refused(f'"{name}" is no name of a skill')
    if (folder.skills / name).is_dir():
        shutil.rmtree(folder.skills / name)
        return "skill"
    if (folder.plugins / name).is_dir():
        _take_servers(name, folder)
        shutil.rmtree(folder.plugins / name)
        return "plugin"
    raise Refused(f"there is no skill and no plugin {name} that was imported")


def _new_servers(bundle: Bundle, folder: DataFolder, replace: bool) -> dict[str, Any]:
    """The servers of a plugin for .mcp.json: off, until the owner turns them on. Raises Refused."""
    known = _known_servers(folder)
    made: dict[str, Any] = {}
    root = str(folder.plugins / bundle.name)
    own = _servers_of(bundle.name, folder) if replace and bundle.name else set()
    for name, said in bundle.servers.items():
        if not isinstance(said, dict) or not isinstance(name, str):
            raise Refused(f"{_SERVERS}: {name} must be an object")
        if name in known and name not in own:
            raise Refused(f"there is a server {name} already in .mcp.json; rename one of the two")
        made[name] = {**json.loads(json.dumps(said).replace(_ROOT, json.dumps(root)[1:-1])), "enabled": False}
    return made


def _known_servers(folder: DataFolder) -> dict[str, Any]:
    try:
        tree = json.loads(folder.mcp_file.read_bytes())
        listed = tree["mcpServers"]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        raise Refused(".mcp.json cannot be read; mend it first") from None
    return listed if isinstance(listed, dict) else {}


def _write_servers(folder: DataFolder, more: Mapping[str, Any], gone: frozenset[str] = frozenset()) -> None:
    left = {name: said for name, said in _known_servers(folder).items() if name not in gone}
    tree = {"mcpServers": {**left, **more}}
    write_private(folder.mcp_file, json.dumps(tree, indent=2, ensure_ascii=False).encode() + b"\n")


def _servers_of(plugin: str, folder: DataFolder) -> set[str]:
    """The servers that an installed plugin brought."""
    root = folder.plugins / plugin
    manifest = next((path for path in MANIFESTS if (root / path).is_file()), None)
    if manifest is None:
        return set()
    try:
        named = _json((root / manifest).read_bytes(), manifest).get("mcpServers")
        place = _place_of_servers(named)
        files = {place: (root / place).read_bytes()} if (root / place).is_file() else {}
        return set(_told_servers(files, named))
    except Refused:
        return set()


def _take_servers(plugin: str, folder: DataFolder) -> None:
    own = frozenset(_servers_of(plugin, folder))
    if own & _known_servers(folder).keys():
        _write_servers(folder, {}, own)


def pack(files: Mapping[str, bytes]) -> bytes:
    """Files as a ZIP file: what `read` takes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in files.items():
            made.writestr(path, data)
    return out.getvalue()
