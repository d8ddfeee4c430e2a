"""ZIP files of skills and plugins: what is taken in, what is refused whole, and what a crash leaves."""

import io
import json
import stat
import zipfile
from pathlib import Path

import pytest

from agents import bundle
from agents.bundle import Bundle, Refused, install, pack, read, remove
from config.paths import DataFolder, write_private

SKILL = b"---\nname: clerk\ndescription: Files letters.\ntools: [read_mail]\n---\nFile them.\n"
MANIFEST = b'{"name": "office", "version": "1.0", "description": "x"}'
SERVERS = b'{"mcpServers": {"docs": {"command": "python", "args": ["${CLAUDE_PLUGIN_ROOT}/server.py"]}}}'
PLUGIN = {
    ".claude-plugin/plugin.json": MANIFEST,
    "skills/clerk/SKILL.md": SKILL,
    "skills/clerk/forms/a.txt": b"form",
    "commands/do.md": b"x",
    "hooks/hooks.json": b"{}",
    ".mcp.json": SERVERS,
    "server.py": b"pass",
}


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


def refused(data: bytes) -> str:
    with pytest.raises(Refused) as caught:
        read(data)
    return caught.value.why


def entry(name: str, data: bytes = b"x", mode: int = 0) -> bytes:
    """A ZIP file with a good skill, and one more entry of any name and kind."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("clerk/SKILL.md", SKILL)
        info = zipfile.ZipInfo("x")
        info.filename = name  # as a hostile program writes it: ZipInfo itself would tidy it
        info.external_attr = mode << 16
        made.writestr(info, data)
    return out.getvalue()


@pytest.mark.parametrize(
    "files",
    [
        {"SKILL.md": SKILL, "forms/a.txt": b"form"},
        {"clerk/SKILL.md": SKILL, "clerk/forms/a.txt": b"form"},
        {"my-skills-main/clerk/SKILL.md": SKILL, "my-skills-main/clerk/forms/a.txt": b"form"},
        {"skills/clerk/SKILL.md": SKILL, "skills/clerk/forms/a.txt": b"form", "__MACOSX/x": b"", "README.md": b"hi"},
    ],
)
def test_skills_are_found_however_they_are_packed(folder: DataFolder, files: dict[str, bytes]) -> None:
    found = read(pack(files))
    assert (found.name, found.skills) == ("", ("clerk",))
    install(found, folder)
    assert (folder.skills / "clerk" / "SKILL.md").read_bytes() == SKILL
    assert (folder.skills / "clerk" / "forms" / "a.txt").read_bytes() == b"form"
    assert sorted(path.name for path in folder.skills.iterdir()) == ["clerk"]


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "clerk/../../x",
        "/etc/passwd",
        "C:/x",
        "clerk\\..\\x",
        "clerk//x",
        "./x",
        "clerk/. /x",
        "a/" * 9 + "x",
        "x\n",
        "clerk/x.",
        "clerk/x ",
        "clerk/con",
        "clerk/Aux.txt",
        "NUL/x",
    ],
)
def test_a_name_that_leads_elsewhere_refuses_the_whole(folder: DataFolder, name: str) -> None:
    assert "leads out of its folder" in refused(entry(name)) or "too deep" in refused(entry(name))
    assert not folder.skills.exists()


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(mode: int) -> None:
    assert "is a link or a device" in refused(entry("clerk/x", b"/etc/passwd", mode))


@pytest.mark.parametrize(
    "files",
    [
        {"a/clerk/SKILL.md": SKILL, "b/clerk/SKILL.md": SKILL + b"Other."},
        {"SKILL.md": SKILL, "clerk/SKILL.md": SKILL + b"Other."},
    ],
)
def test_two_skills_of_one_name_are_refused_and_none_wins(files: dict[str, bytes]) -> None:
    assert "the skill clerk stands in it twice" in refused(pack(files))


@pytest.mark.parametrize(
    "names", [("\u00e9", "e\u0301"), ("A.txt", "a.TXT"), ("a", "a/b"), ("a/b/c", "A"), ("skill.md/x", "y")]
)
def test_names_that_are_one_on_some_systems_are_refused(names: tuple[str, str]) -> None:
    """One that is a file and a folder at once could not be written down either."""
    both = {f"clerk/{name}": b"1" for name in names}
    assert "stands in it twice" in refused(pack({"clerk/SKILL.md": SKILL, **both}))


def test_sizes_are_bounded_as_they_unpack(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"clerk/{number}": b"" for number in range(bundle.MAX_FILES)}
    assert "more than 256 files" in refused(pack({"clerk/SKILL.md": SKILL, **many}))
    monkeypatch.setattr(bundle, "MAX_UNPACKED", 3 * 1024 * 1024)
    bomb = pack({"clerk/SKILL.md": SKILL, "clerk/a": b"0" * 2_000_000, "clerk/b": b"0" * 2_000_000})
    assert len(bomb) < 10_000
    assert "unpacks to more than 3 MiB" in refused(bomb)
    monkeypatch.setattr(bundle, "MAX_PACKED", 1024 * 1024)
    assert "larger than 1 MiB" in refused(b"PK" + b"0" * 1024 * 1024)


@pytest.mark.parametrize(
    ("skill", "why"),
    [
        (b"---\nname: clerk\ndescription: d\ntools: [a]\ninterruptOn: [b]\n---\nDo.", "the gate would guard nothing"),
        (b"---\nname: clerk\ndescription: d\n---\nDo.", "tools: must be given once"),
        (b"---\nname: other\ndescription: d\ntools: []\n---\nDo.", "name and folder must agree"),
        (b"\xff\xfe", "not UTF-8"),
        (b"no front matter", "front matter"),
    ],
)
def test_a_skill_that_would_be_broken_refuses_the_whole(folder: DataFolder, skill: bytes, why: str) -> None:
    good = SKILL.replace(b"clerk", b"good")
    assert why in refused(pack({"good/SKILL.md": good, "clerk/SKILL.md": skill}))


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04", pack({"a.txt": b"x"}), pack({})])
def test_what_is_no_bundle_is_refused(data: bytes) -> None:
    assert refused(data)


def test_a_plugin_brings_skills_and_servers_and_tells_of_the_rest(folder: DataFolder) -> None:
    found = read(pack({f"office/{path}": data for path, data in PLUGIN.items()}))
    assert (found.name, found.skills, list(found.servers)) == ("office", ("clerk",), ["docs"])
    assert [line.partition(":")[0] for line in found.unused] == ["commands/", "hooks/"]
    install(found, folder)
    root = folder.plugins / "office"
    assert (root / "skills" / "clerk" / "SKILL.md").read_bytes() == SKILL
    [(name, server)] = json.loads(folder.mcp_file.read_text())["mcpServers"].items()
    assert (name, server["enabled"], server["args"]) == ("docs", False, [f"{root}/server.py"])
    assert remove("office", folder) == "plugin"
    assert not root.exists()
    assert json.loads(folder.mcp_file.read_text()) == {"mcpServers": {}}


def test_a_plugin_may_name_the_file_of_its_servers_and_other_folders_of_skills_are_told(folder: DataFolder) -> None:
    about = b'{"name": "office", "mcpServers": "./config/servers.json", "skills": "./more"}'
    servers = b'{"mcpServers": {"letters": {"command": "x"}}}'
    files = {"plugin.json": about, "config/servers.json": servers, "skills/clerk/SKILL.md": SKILL}
    found = read(pack(files))
    assert (list(found.servers), found.unused) == (
        ["letters"],
        ("plugin.json: skills: only those in skills/ are taken",),
    )
    install(found, folder)
    assert list(json.loads(folder.mcp_file.read_text())["mcpServers"]) == ["letters"]
    assert remove("office", folder) == "plugin"
    assert json.loads(folder.mcp_file.read_text()) == {"mcpServers": {}}
    del files["config/servers.json"]
    assert "config/servers.json is named as the file of its servers" in refused(pack(files))


def test_the_servers_go_with_a_plugin_whatever_their_file_is_called_and_whatever_became_of_its_skills(
    folder: DataFolder,
) -> None:
    about = b'{"name": "office", "mcpServers": "./config/servers"}'
    servers = b'{"mcpServers": {"letters": {"command": "x"}}}'
    files = {"plugin.json": about, "config/servers": servers, "skills/clerk/SKILL.md": SKILL}
    install(read(pack(files)), folder)
    (folder.plugins / "office" / "skills" / "clerk" / "SKILL.md").write_text("no skill any more")
    assert remove("office", folder) == "plugin"
    assert json.loads(folder.mcp_file.read_text()) == {"mcpServers": {}}


def test_a_plugin_cannot_take_the_place_of_a_server(folder: DataFolder) -> None:
    mine = {"mcpServers": {"docs": {"command": "mine"}, "other": {"command": "x"}}}
    folder.mcp_file.write_text(json.dumps(mine))
    with pytest.raises(Refused, match="there is a server docs already"):
        install(read(pack(PLUGIN)), folder)
    assert json.loads(folder.mcp_file.read_text()) == mine
    assert not (folder.plugins / "office").exists()


def test_nothing_is_replaced_unless_it_was_said(folder: DataFolder) -> None:
    install(read(pack(PLUGIN)), folder)
    newer = read(pack({**PLUGIN, "new.txt": b"new"}))
    with pytest.raises(Refused, match="is there already"):
        install(newer, folder)
    install(newer, folder, replace=True)
    assert (folder.plugins / "office" / "new.txt").exists()
    assert list(json.loads(folder.mcp_file.read_text())["mcpServers"]) == ["docs"]
    assert sorted(path.name for path in folder.plugins.iterdir()) == ["office"]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({**PLUGIN, ".claude-plugin/plugin.json": b"{"}, "is not JSON"),
        ({**PLUGIN, ".claude-plugin/plugin.json": b"[]"}, "no JSON object"),
        ({**PLUGIN, ".claude-plugin/plugin.json": b'{"name": "../x"}'}, "name must be"),
        ({**PLUGIN, ".mcp.json": b'{"mcpServers": []}'}, "must be an object"),
        ({**PLUGIN, ".claude-plugin/plugin.json": b'{"name": "office", "mcpServers": 5}'}, "must be an object"),
        ({**PLUGIN, "skills/clerk/SKILL.md": b"x"}, "front matter"),
    ],
)
def test_a_plugin_that_is_wrong_is_refused(files: dict[str, bytes], why: str) -> None:
    assert why in refused(pack(files))


def test_only_what_was_imported_is_removed(folder: DataFolder) -> None:
    for name in ("summariser", "../x", "", "nobody"):
        with pytest.raises(Refused):
            remove(name, folder)


@pytest.mark.parametrize("cut_at", [1, 2, 3, 4])
def test_an_import_that_was_cut_off_leaves_the_old_or_the_new(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch, cut_at: int
) -> None:
    """Stopped before each step on the disk; the next start finds one of the two, whole."""
    install(read(pack({"clerk/SKILL.md": SKILL, "clerk/old.txt": b"old"})), folder)
    steps = iter(range(1, 100))

    class Died(BaseException):
        pass

    def step() -> None:
        if next(steps) == cut_at:
            raise Died

    def write(path: Path, data: bytes) -> None:
        step()
        write_private(path, data)

    def moved(self: Path, to: Path) -> Path:
        step()
        return rename(self, to)

    rename = Path.rename
    monkeypatch.setattr(bundle, "write_private", write)
    monkeypatch.setattr(Path, "rename", moved)
    try:
        install(read(pack({"clerk/SKILL.md": SKILL, "clerk/new.txt": b"new"})), folder, replace=True)
    except Died:
        pass
    monkeypatch.undo()
    bundle.mend(folder)
    place = folder.skills / "clerk"
    assert sorted(path.name for path in place.iterdir()) in (["SKILL.md", "old.txt"], ["SKILL.md", "new.txt"])
    assert sorted(path.name for path in folder.skills.iterdir()) == ["clerk"]


def test_a_bundle_is_plain_data() -> None:
    assert isinstance(read(pack({"SKILL.md": SKILL})), Bundle)
