"""Generated mails by the hundred thousand: what must never approve, and what an addition must undo.

    python -m tests.replies.sweep wordless --count 100000 --seed 1

One rule: every mail is made from (kind, seed, number) alone, so a false approval is found again by its line.
"""

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator

from bridge.post.reading import read_reply, vocabulary
from bridge.post.reading.vocabulary import fold
from tests.replies.clients import CLIENTS, TABLE, file_beside, text_beside

EVERY = vocabulary("all")
APPROVING = sorted(word for word, meaning in EVERY.words.items() if meaning == {"approve"})
WORDS = sorted(EVERY.every)
FILLERS = (
    "please we the mail un it ¿ and ? no not dis -ing reject 12. s ! , now later all if this one two it's okay? sure"
    " not nothing bitte ja, nicht erst pas d'abord senza sin не нужно 不 吗 か 말고 لا אל 🙂 👎 1 2, #3 @tom https://a.example"
    " ps but only maybe ... … ~ :( ;-) tom maya friday 10:30 € % / \\ | > -- * _ \u200b \u202e \xa0 \t"
).split(" ")
SENTENCES = (
    "But not to Tom.|Only the first one, please.|Wait until Friday.|Send it to Maya at work.|Not yet.|nothing to Tom"
    "|Ask Bob first.|Tomorrow.|except item 2|Call me before you do it.|hmm|Or maybe not.|Take out the last line.|x|12."
    "|Cc Bob.|Use the other address.|I have changed my mind.|on one condition|Read it to me again.|see below|Wrong sum."
    "|The date must be the 4th.|and the budget|First show me the text.|PS: and tell Bob|Add: we meet at nine."
    "|Aber erst morgen.|Bitte ohne den letzten Satz.|nur an Maya|Vorher anrufen.|Der Betrag stimmt nicht."
    "|Mais pas avant vendredi.|sauf le point 2|Changez la date.|Demande d'abord à Luc."
    "|Pero no a Tom.|solo el primero|Espera hasta mañana.|Ma non a Tom.|solo il primo|Aspetta domani."
    "|Mas não ao Tom.|só amanhã|Maar niet naar Tom.|alleen de eerste|Ale nie do Toma.|dopiero jutro"
    "|Только не Тому.|завтра|Но сначала спроси Аню.|不要发给汤姆|明天再发|只发第一封|トムには送らないで|明日まで待って"
    "|톰에게는 보내지 마세요|내일|لكن ليس إلى توم|غدا|אבל לא לתום|מחר|👎|...|🤔|❌"
).split("|")
QUESTIONS = (
    "Is that the right sum?|Why him?|really?|ok?|?|Who is Maya?|Stimmt das?|Wirklich?|C'est sûr ?|¿Seguro?|Davvero?"
    "|Certeza?|Zeker?|Na pewno?|Точно?|确定吗？|本当ですか？|정말요?|هل أنت متأكد؟|בטוח?"
).split("|")
NEGATIONS = (
    "do not {}|don't {}|not {}|{} not|never {}|no {}|nicht {}|{} nicht|ne pas {}|no {}|non {}|não {}|niet {}|nie {}"
    "|не {}|不{}|{}しない|{} 안 함|لا {}|לא {}|un{}|dis{}|cannot {}|I will not {}|without: {}|reject, not {}"
).split("|")
MARKS = ("{}?", "{} ?", "? {}", "{}？", "{};", "{}...", "{}…", "{}؟", "{} ~", "{} :-(", "{} ??", "{}!?", "({}?)")
FOOTERS = (
    "This e-mail and any attachments are confidential and intended solely for the addressee. If you have received it in"
    " error, please notify the sender and delete it."
    "|This email is confidential.|Please consider the environment before printing this email."
    "|Example Ltd is registered in England. Registered office: 1 Example Street, London."
    "|Diese E-Mail enthält vertrauliche Informationen. Wenn Sie nicht der richtige Adressat sind, löschen Sie bitte die"
    " Mail.|Ce message est confidentiel et réservé à ses destinataires. Pensez à l'environnement avant d'imprimer."
    "|Este mensaje es confidencial y está dirigido exclusivamente a su destinatario.|本邮件机密，仅供收件人使用。"
    "|Sent from my iPhone|Get Outlook for iOS|Virus-free. www.avast.com"
).split("|")
FILES = ("text/plain", "application/pdf", "image/png", "message/rfc822", "text/csv", "application/octet-stream")
SIGN_OFFS = ("", "", "\n\nKind regards,\nAda", "\n\nThanks, Ada", "\nAda Byron", "\n\nViele Grüße\nAda")
BARE = [CLIENTS["no_quote"]]


def approves(raw: bytes) -> bool:
    return read_reply(raw, TABLE, "all").decision == "approve"


def holds_no_decision(text: str) -> bool:
    """Whether no line is a decision word, nor the head of an item list or of a standing approval."""
    return all(fold(line) not in EVERY.every and not _is_head(fold(line)) for line in re.split(r"[\n\r\v\f]", text))


def _is_head(folded: str) -> bool:
    return (
        folded == "always approve" or re.fullmatch(r"(?:approve|approved|reject)\D{0,3}[\d ,+&]+", folded) is not None
    )


def wordless(chance: random.Random) -> bytes:
    """A reply in whose text no line is a decision, though it may be full of decision words."""
    while True:
        text = "\n".join(_row(chance) for _ in range(chance.randint(1, 4)))
        if holds_no_decision(text):
            return chance.choice([*CLIENTS.values(), *BARE * 12])(text)


def _row(chance: random.Random) -> str:
    pool = APPROVING if chance.random() < 0.8 else WORDS
    said = [chance.choice(pool) for _ in range(chance.randint(0, 2))]
    said += chance.sample(FILLERS, chance.randint(0, 3))
    chance.shuffle(said)
    row = chance.choice([" ", " ", "", "-", "\u200b", ", ", "\xa0"]).join(said)
    return chance.choice([row, row, row.upper(), row.title()])


def added(chance: random.Random) -> bytes:
    """An approval with one thing added by its writer."""
    word, client = chance.choice(APPROVING), chance.choice(list(CLIENTS.values()))
    off = chance.choice(SIGN_OFFS)
    ways = [_with_sentence, _with_sentence, _with_mark, _with_quote, _with_part, _with_footer]
    return chance.choice(ways)(chance, word, client, off)


def _with_sentence(chance: random.Random, word: str, client: Callable[[str], bytes], off: str) -> bytes:
    said = chance.choice(chance.choice([SENTENCES, QUESTIONS]))
    if chance.random() < 0.2:
        said = " ".join(chance.choices(SENTENCES, k=2))
    gap = chance.choice(["\n", "\n\n", "\n\n\n"])
    shapes = [f"{word}{gap}{said}{off}", f"{word}{off}{gap}{said}", f"{said}{gap}{word}{off}", f"{word} {said}{off}"]
    shapes += [f"{word}, {said}{off}", f"{word}. {said}{off}", f"{said} {word}{off}", f"{word}{off}\n-- \nAda\n{said}"]
    return client(chance.choice(shapes))


def _with_footer(chance: random.Random, word: str, client: Callable[[str], bytes], off: str) -> bytes:
    """A sentence beside those of a footer or a product line, in its paragraph."""
    footer, said = chance.choice(FOOTERS), chance.choice(chance.choice([SENTENCES, QUESTIONS]))
    first, stop, rest = footer.partition(". ")
    shapes = [f"{footer} {said}", f"{said} {footer}", f"{footer}\n{said}", f"{said}\n{footer}"]
    shapes += [f"{first}. {said} {rest}"] if stop else []
    return client(f"{word}{off}\n\n{chance.choice(shapes)}")


def _with_mark(chance: random.Random, word: str, client: Callable[[str], bytes], off: str) -> bytes:
    return client(chance.choice([*NEGATIONS, *MARKS]).format(word) + off)


def _with_quote(chance: random.Random, word: str, client: Callable[[str], bytes], off: str) -> bytes:
    """Somebody else's words behind quote marks, or a remark written into the quote of our mail."""
    said = chance.choice([*SENTENCES[:27], *QUESTIONS])
    if chance.random() < 0.3:
        return client(f"> {said}\n{word}{off}" if chance.random() < 0.5 else f"{word}{off}\n\n> {said}")
    return _inserted(chance, client(word + off), said)


def _inserted(chance: random.Random, raw: bytes, said: str) -> bytes:
    """The mail with one more line behind a quoted one."""
    rows = raw.decode("utf-8").split("\r\n")
    quoted = [at for at, row in enumerate(rows) if row.startswith(">") and row.strip("> ")]
    if not quoted:
        return text_beside(raw, said)
    at = chance.choice(quoted)
    rows.insert(at + 1, chance.choice(["> ", ">", ">> ", "> > ", ""]) + said)
    return "\r\n".join(rows).encode("utf-8")


def _with_part(chance: random.Random, word: str, client: Callable[[str], bytes], off: str) -> bytes:
    raw = client(word + off)
    if chance.random() < 0.5:
        return file_beside(raw, chance.choice(FILES))
    return text_beside(raw, chance.choice([*SENTENCES, *QUESTIONS]))


KINDS: dict[str, Callable[[random.Random], bytes]] = {"wordless": wordless, "added": added}


def false_approvals(kind: str, count: int, seed: int = 11) -> Iterator[tuple[int, bytes]]:
    """(number, mail) of each generated mail that is approved and must not be."""
    for number in range(count):
        raw = KINDS[kind](random.Random(f"{kind}/{seed}/{number}"))
        if approves(raw):
            yield number, raw


def main() -> int:
    """Sweep and print what was approved; the exit status says whether anything was."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("kind", choices=KINDS)
    asked.add_argument("--count", type=int, default=10_000)
    asked.add_argument("--seed", type=int, default=11)
    said = asked.parse_args()
    found = 0
    for number, raw in false_approvals(said.kind, said.count, said.seed):
        found += 1
        body = raw.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
        print(f"--- {said.kind} {said.seed}/{number}\n{body[:1500]}")
    print(f"{said.kind}: {said.count} mails, {found} false approvals")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
