"""Charset names as mail writes them, and decoding that never raises.

One rule: a name from outside is looked up in a closed table before any codec is touched, so no mail can
choose a codec that is not a character set (`idna`, `unicode_escape`), and UTF-7, in which the same bytes
can hide other text, is refused.
"""

import re
from encodings.aliases import aliases
from functools import lru_cache

# What the label says is often the small name of a larger set: the larger one reads both (WHATWG Encoding, 4.2).
_LARGER = {
    "us_ascii": "ascii",
    "ansi_x3_4_1968": "ascii",
    "gb2312": "gb18030",
    "gb_2312_80": "gb18030",
    "x_gbk": "gb18030",
    "euc_cn": "gb18030",
    "cp936": "gb18030",
    "ks_c_5601": "cp949",
    "ks_c_5601_1987": "cp949",
    "ks_c_5601_1989": "cp949",
    "ksc5601": "cp949",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "x_sjis": "cp932",
    "windows_31j": "cp932",
    "iso_2022_jp": "iso2022_jp_ext",
    "iso_2022_jp_1": "iso2022_jp_ext",
    "csiso2022jp": "iso2022_jp_ext",
    "cp50220": "iso2022_jp_ext",
    "cp50221": "iso2022_jp_ext",
    "iso_2022_jp_2": "iso2022_jp_2",
    "x_euc_jp": "euc_jp",
    "big5": "big5hkscs",
    "x_x_big5": "big5hkscs",
    "cn_big5": "big5hkscs",
    "iso_8859_1": "cp1252",
    "iso8859_1": "cp1252",
    "latin1": "cp1252",
    "latin_1": "cp1252",
    "l1": "cp1252",
    "x_unknown": "ascii",
    "unknown_8bit": "ascii",
    "default": "ascii",
    "8bit": "ascii",
    "iso_8859_9": "cp1254",
    "iso8859_9": "cp1254",
    "iso_8859_11": "cp874",
    "tis_620": "cp874",
    "tis620": "cp874",
    "windows_874": "cp874",
    "iso_8859_8_i": "iso8859_8",
    "iso_8859_8_e": "iso8859_8",
    "iso_8859_6_i": "iso8859_6",
    "x_mac_roman": "mac_roman",
    "macintosh": "mac_roman",
    "x_mac_cyrillic": "mac_cyrillic",
    "utf8": "utf_8",
    "utf_8_sig": "utf_8",
    "utf8mb4": "utf_8",
    "unicode": "utf_16",
    "cp65001": "utf_8",
    "koi8_ru": "koi8_u",
}
_ALSO = {"cp874", "cp856", "cp720", "cp1006", "koi8_u", "koi8_t", "mac_centeuro", "iso8859_1", "latin_1", "utf_8"}
_REFUSED = {
    "utf_7",
    "base64_codec",
    "bz2_codec",
    "hex_codec",
    "quopri_codec",
    "rot_13",
    "uu_codec",
    "zlib_codec",
    "mbcs",
}
_KNOWN = frozenset(({*aliases.values()} | _ALSO) - _REFUSED)
_NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,39}")


@lru_cache(maxsize=512)
def codec_name(label: str) -> str | None:
    """The Python codec that reads text labelled `label`, or None when the label is unknown or refused."""
    name = label.strip(" \t\r\n\"'").partition("*")[0].lower()
    name = name.replace("-", "_").replace(":", "_").replace(".", "_").replace(" ", "_")
    if name.startswith(("x_cp", "x_iso")):
        name = name[2:]
    if not _NAME.fullmatch(name):
        return None
    if name in _LARGER:
        return _LARGER[name]
    found = aliases.get(name) or _windows(name) or name
    found = _LARGER.get(found, found)
    return found if found in _KNOWN else None


def _windows(name: str) -> str | None:
    for prefix in ("windows_", "x_windows_", "ms_", "ibm_", "ibm", "cp_", "win_", "win"):
        if name.startswith(prefix) and name[len(prefix) :].isdigit():
            return "cp" + name[len(prefix) :]
    return None


def decode(data: bytes, label: str | None) -> tuple[str, bool]:
    """Text of `data`, and whether every byte of it was read as its label promises.

    Without a label, or under ASCII, 8-bit bytes are tried as UTF-8, then as Windows-1252; that is a guess,
    so the second value is then true only for UTF-8.
    """
    codec = codec_name(label) if label else "ascii"
    if codec is None:
        return _guess(data)[0], not any(byte > 0x7F for byte in data) and not _refused(label)
    if codec == "ascii":
        return _guess(data)
    try:
        return data.decode(codec), True
    except UnicodeError:
        return _damaged(data, codec)


def _refused(label: str | None) -> bool:
    name = (label or "").strip().lower().replace("_", "-")
    return name.endswith("utf-7") or name == "utf7"


def _guess(data: bytes) -> tuple[str, bool]:
    if data.isascii():
        return data.decode("ascii"), True
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return _cp1252(data), False


def _cp1252(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _damaged(data: bytes, codec: str) -> tuple[str, bool]:
    if codec == "cp1252":  # five bytes are unassigned there and are controls in ISO 8859-1
        return data.decode("latin-1"), True
    try:
        return data.decode(codec, "replace"), False
    except (UnicodeError, LookupError):
        return data.decode("latin-1"), False
