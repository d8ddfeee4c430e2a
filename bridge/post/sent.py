"""The mails of ours that a reply may quote, for the reader of replies: found in the store by token or Message-ID.

The rule: only mail of the reader's own account, and only mail that Postroom itself wrote.
"""

from typing import TYPE_CHECKING

from agents.requests import RequestInfo
from agents.runtime import Runtime
from bridge.post.content import body_text
from mailstore import messages
from mailstore.model import AccountId
from mailstore.parse import Message, parse, walk
from mailstore.sqlite import ReadTx

if TYPE_CHECKING:
    from bridge.post.reading import SentMail


class StoredSent:
    """bridge.post.reading.SentMails over one snapshot of the store."""

    def __init__(self, tx: ReadTx, runtime: Runtime, account: AccountId, domain: str) -> None:
        self._tx = tx
        self._runtime = runtime
        self._account = account
        self._domain = domain

    def by_token(self, token: str) -> "SentMail | None":
        """The mail of the request with this token."""
        request = self._runtime.find_request(self._tx, self._account, token=token)
        return self.by_message_id(request.message_id) if request else None

    def by_message_id(self, message_id: str) -> "SentMail | None":
        """A mail of ours by its Message-ID."""
        if not self._runtime.is_own(self._tx, self._account, message_id):
            return None
        request = self._runtime.find_request(self._tx, self._account, message_id=message_id)
        for email in messages.by_message_id(self._tx, self._account, message_id):
            info = messages.email(self._tx, email)
            if info is not None:
                raw = messages.body(self._tx, info.content)
                return self._sent(parse(raw), raw, request)
        return None

    def _sent(self, message: Message, raw: bytes, request: RequestInfo | None) -> "SentMail":
        from bridge.post.reading import SentMail, visible_text  # on first use: its patterns make a start slower

        names = tuple(address.display for address in message.envelope.from_ if address.display)
        return SentMail(
            token=request.token if request else None,
            message_id=message.message_id,
            address=f"action+{request.token}@{self._domain}" if request else "",
            subject=message.subject,
            text=body_text(message, raw),
            also=tuple(visible_text(p.text(raw)) for p in walk(message.root) if p.media_type == "text/html"),
            items=request.items if request else None,
            grant=request.grant_offered if request else False,
            names=names,
            senders=tuple(address.spec for address in message.envelope.from_ if address.spec),
            request=request.code if request else None,
        )
