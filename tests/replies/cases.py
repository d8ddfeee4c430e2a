"""Our own corpus: other clients, languages and tricks, each a kind of its own, with the right reading."""

from tests.replies.case import Case
from tests.replies.cases_blind_clients import CLIENTS
from tests.replies.cases_blind_languages import LANGUAGES
from tests.replies.cases_blind_second import SECOND
from tests.replies.cases_blind_third import THIRD
from tests.replies.cases_blind_tricks import TRICKS
from tests.replies.cases_decided import APPROVED, EDITED, REFUSED
from tests.replies.cases_doubtful import DOUBTFUL
from tests.replies.cases_found import FOOTED, FRAMED, MENDED, REMARKED, SIGNED
from tests.replies.cases_fresh import FRESH
from tests.replies.cases_fresh_forms import TRIED
from tests.replies.cases_machine import MACHINES

CASES: list[Case] = [
    *APPROVED,
    *REFUSED,
    *EDITED,
    *DOUBTFUL,
    *MACHINES,
    *FRAMED,
    *SIGNED,
    *REMARKED,
    *MENDED,
    *FRESH,
    *TRIED,
    *FOOTED,
    *LANGUAGES,
    *CLIENTS,
    *TRICKS,
    *SECOND,
    *THIRD,
]

__all__ = ["APPROVED", "CASES", "Case"]
