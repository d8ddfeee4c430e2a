"""The rules by name, in words for people."""

_WHY = {
    "word": "The first line is exactly one decision word and nothing else was written.",
    "items": "The first line is a decision word with a list of items that the request shows.",
    "reason": "The first line is a refusal with a reason after a colon.",
    "always": 'The first line is "always approve", which this request offers.',
    "edit": 'The first line is "edit" with changes; they are checked and shown again before anything is done.',
    "empty": "Nothing new was written.",
    "feedback": "The first line is no decision word, so the text goes to the agent as it is.",
    "between-quotes": "The text stands between quoted lines or in several places: it answers something in particular.",
    "forward": "This is a forwarded mail, not a reply.",
}
_NEAR_MISS = {
    "question": "A question mark makes it a question, not a decision.",
    "hesitation": "Dots, a wave or a face beside the word make it uncertain.",
    "override": "Direction marks make the line read differently from what it holds.",
    "greeting": "The first line is a greeting; the decision must be the first line.",
    "went-on": "It began with an approval and went on, so it was not taken as one.",
    "several-words": "It holds more than one of the choices.",
    "both-words": "It refuses and approves at once.",
    "edit-alone": "It asks for a change without saying which.",
    "unknown-item": "It names items that the request does not show.",
    "no-grant": '"always approve" is not offered here.',
    "weak-word": "A short yes or no counts only in a language that is on, in a direct reply to the newest mail.",
    "attachment": "A file is attached, so the decision may mean something else than was shown.",
    "parts-disagree": "The plain-text part and the HTML part say different things.",
    "undecodable": "The text is encrypted or cannot be read as its label says.",
    "struck-out": "Words were struck out beside the decision.",
    "hidden-text": "It holds words or pictures that one mail program shows and another does not.",
    "inside-quote": "Something was written inside the quoted text.",
    "too-long": "The text is too long to be a decision.",
    "trailing": "A line below the signature may be meant, so the decision does not stand alone.",
    "unknown-mail": "It answers no mail of ours that is known, so its quote cannot be told from its text.",
    "conflict": "Its address names one request and its In-Reply-To another.",
}
_MACHINE = {
    "null-sender": "It has no return address, as automatic mail has none.",
    "own-mail": "It is mail of Postroom itself.",
    "mailer-daemon": "It comes from a mail system.",
    "auto-submitted": "It says of itself that a program sent it (Auto-Submitted).",
    "precedence": "It is marked as bulk, list or automatic mail (Precedence).",
    "list": "It comes from a mailing list.",
    "responder": "It is marked as an automatic answer.",
    "subject": "Its subject begins as automatic answers begin.",
    "report": "It is a delivery report or read receipt.",
    "reaction": "It is a one-tap reaction, not a reply.",
    "calendar": "It is a calendar message.",
}


def explain_rule(rule: str) -> str:
    """One sentence for the name of a rule; the name itself when it is unknown."""
    kind, _, name = rule.partition(":")
    if kind == "near-miss":
        return _NEAR_MISS.get(name, rule)
    if kind == "machine":
        return _MACHINE.get(name, rule)
    return _WHY.get(rule, rule)
