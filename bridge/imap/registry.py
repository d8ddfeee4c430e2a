"""Every extension there is, in the order of announcement: a new one is its file in ext/ and its line here.

Rule: this is the only place that knows them all.
"""

from collections.abc import Sequence
from typing import Final

from bridge.imap.base import BASE
from bridge.imap.dialect import Dialect, DialectError, Extension, merge
from bridge.imap.ext import (
    appendlimit,
    auth_login,
    auth_plain,
    auth_scram,
    binary,
    catenate,
    children,
    compress,
    condstore,
    context,
    context_sort,
    create_special_use,
    enable,
    esearch,
    esort,
    ident,
    idle,
    inprogress,
    list_extended,
    list_metadata,
    list_status,
    literal_plus,
    messagelimit,
    metadata,
    move,
    multiappend,
    namespace,
    notify,
    objectid,
    partial,
    preview,
    qresync,
    quota,
    replace,
    rev2,
    sasl_ir,
    savedate,
    searchres,
    sort,
    sort_display,
    special_use,
    starttls,
    status_size,
    thread,
    uidonly,
    uidplus,
    unauthenticate,
    unselect,
    utf8_accept,
    within,
    xlist,
)
from config.build import did_you_mean
from config.errors import Fault
from config.settings import Imap

EXTENSIONS: Final[tuple[Extension, ...]] = (
    starttls.EXTENSION,
    sasl_ir.EXTENSION,
    literal_plus.EXTENSION,
    ident.EXTENSION,
    enable.EXTENSION,
    idle.EXTENSION,
    namespace.EXTENSION,
    unselect.EXTENSION,
    children.EXTENSION,
    uidplus.EXTENSION,
    move.EXTENSION,
    special_use.EXTENSION,
    list_extended.EXTENSION,
    list_status.EXTENSION,
    condstore.EXTENSION,
    qresync.EXTENSION,
    esearch.EXTENSION,
    searchres.EXTENSION,
    within.EXTENSION,
    sort.EXTENSION,
    sort_display.EXTENSION,
    esort.EXTENSION,
    thread.EXTENSION,
    status_size.EXTENSION,
    xlist.EXTENSION,
    create_special_use.EXTENSION,
    multiappend.EXTENSION,
    replace.EXTENSION,
    partial.EXTENSION,
    context.EXTENSION,
    context_sort.EXTENSION,
    notify.EXTENSION,
    objectid.EXTENSION,
    savedate.EXTENSION,
    preview.EXTENSION,
    quota.EXTENSION,
    inprogress.EXTENSION,
    unauthenticate.EXTENSION,
    rev2.EXTENSION,
    binary.EXTENSION,
    catenate.EXTENSION,
    metadata.EXTENSION,
    list_metadata.EXTENSION,
    compress.EXTENSION,
    utf8_accept.EXTENSION,
    uidonly.EXTENSION,
    appendlimit.EXTENSION,
    messagelimit.EXTENSION,
    auth_scram.EXTENSION,
    auth_plain.EXTENSION,
    auth_login.EXTENSION,
)


def dialect_for(settings: Imap, *, implicit_tls: bool = False) -> Dialect:
    """The base with the extensions that the settings name for a listener.

    Raises DialectError, also for a name that does not exist.
    """
    return _merged(chosen_for(settings, implicit_tls=implicit_tls))


def dialects_for(settings: Imap) -> tuple[Dialect, Dialect]:
    """The dialects of the plain and of the TLS listener; one for both when the settings are. Raises DialectError."""
    plain, secure = (chosen_for(settings, implicit_tls=implicit_tls) for implicit_tls in (False, True))
    dialect = _merged(plain)
    return dialect, dialect if plain == secure else _merged(secure)


def chosen_for(settings: Imap, *, implicit_tls: bool) -> str | Sequence[str]:
    """What the settings say of a listener: "default", "all", or names."""
    own = settings.extensions_imaps if implicit_tls else settings.extensions_imap
    return settings.extensions if own == "same" else own


def extension_faults(settings: Imap) -> list[Fault]:
    """What is wrong with the extensions that the settings name."""
    written = {
        "imap.extensions": settings.extensions,
        "imap.extensions_imap": settings.extensions_imap,
        "imap.extensions_imaps": settings.extensions_imaps,
    }
    return [fault for key, wanted in written.items() if wanted != "same" for fault in _faults(key, wanted)]


def _faults(key: str, wanted: str | Sequence[str]) -> list[Fault]:
    if isinstance(wanted, str):
        return []
    known = {extension.name.upper(): extension.name for extension in EXTENSIONS}
    unknown = [name for name in wanted if name.upper() not in known]
    if unknown:
        text = "is not an IMAP extension that Postroom speaks"
        return [
            Fault(None, None, key, f"{name} {text}", did_you_mean(name.upper(), known.values())) for name in unknown
        ]
    names = {name.upper() for name in wanted}
    return [
        Fault(None, None, key, f"{extension.name} needs {need}", f"add {need} to the list, or take it out")
        for extension in _chosen(wanted)
        for need in extension.implies
        if need.upper() not in names
    ]


def _merged(wanted: str | Sequence[str]) -> Dialect:
    return merge([BASE, *_chosen(wanted)])


def _chosen(wanted: str | Sequence[str]) -> list[Extension]:
    if wanted == "all":
        return list(EXTENSIONS)
    if wanted == "default":
        return [extension for extension in EXTENSIONS if extension.default]
    names = {name.upper() for name in wanted}
    unknown = names - {extension.name.upper() for extension in EXTENSIONS}
    if unknown:
        raise DialectError(f"no such IMAP extension: {', '.join(sorted(unknown))}")
    return [extension for extension in EXTENSIONS if extension.name.upper() in names]
