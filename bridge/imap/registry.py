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
    auth_plain.EXTENSION,
    auth_login.EXTENSION,
)


def dialect_for(settings: Imap) -> Dialect:
    """The base with the extensions the settings name. Raises DialectError, also for a name that does not exist."""
    return merge([BASE, *_chosen(settings.extensions)])


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
