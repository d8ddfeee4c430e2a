"""Mail bytes read: headers, addresses, structure, text. Pure functions that take any bytes and never raise.

One rule: this package reads and never writes; what is stored and sent stays byte for byte what came in.
"""

from mailstore.parse.address import Address, parse_addresses
from mailstore.parse.charset import codec_name, decode
from mailstore.parse.content import decode_transfer, known_encoding
from mailstore.parse.envelope import Envelope, message_ids, parse_date, thread_index
from mailstore.parse.headers import Headers, decode_header, split_headers, unfold
from mailstore.parse.parameters import Parameters, media_type, parameter, split_parameters
from mailstore.parse.scan import normalise, parse, parse_head
from mailstore.parse.searchable import html_words, searchable
from mailstore.parse.structure import Head, Message, Part, walk
from mailstore.parse.subject import base_subject, is_reply

__all__ = [
    "Address",
    "Envelope",
    "Head",
    "Headers",
    "Message",
    "Parameters",
    "Part",
    "base_subject",
    "codec_name",
    "decode",
    "decode_header",
    "decode_transfer",
    "html_words",
    "is_reply",
    "known_encoding",
    "media_type",
    "message_ids",
    "normalise",
    "parameter",
    "parse",
    "parse_addresses",
    "parse_date",
    "parse_head",
    "searchable",
    "split_headers",
    "split_parameters",
    "thread_index",
    "unfold",
    "walk",
]
