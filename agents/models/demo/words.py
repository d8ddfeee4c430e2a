"""The vocabulary of the demo model, English and German, as data.

Rule: this file holds general words of the two languages only, never a name, file or phrase of a particular mail.
Patterns are written for text that `fold` has folded (lower case, straight quotes).
"""

import re
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ABBREVIATIONS = _words("""
    mr mrs ms dr prof st vs etc e.g eg i.e ie approx no nr fig jan feb mar apr jun jul aug sep sept oct nov dec
    inc ltd co corp dept est min max z.b d.h usw bzw ca evtl ggf inkl str tel u.a v.a z.t gmbh
""")

STOP_WORDS = _words("""
    the and for that this with are was were will would shall should can could have has had been being not but
    from they them their there then than its our your you his her she him who whom which what when where why how
    all any each some such also into onto over under about after before between out off only very just more most
    other others own same too may might must per via upon because while during both few here again once does did
    doing done get got let please der die das den dem des ein eine einer eines einem einen und oder aber nicht
    ist sind war waren wird werden wurde wurden hat haben hatte hatten sein seine seiner ihr ihre ihrer wir sie
    uns euch ich mich mir dich dir mit von vom zum zur bei aus auf auch als wie wenn dann noch nur nach vor bis
    seit durch gegen ohne unter zwischen dass daß weil diese dieser dieses diesen diesem jede jeder jedes kann
    können muss müssen soll sollen man mehr sehr hier dort bitte
""")

GERMAN_MARKS = _words("""
    bitte und der die das den dem ein eine einen mir mich ich ist sind nicht mit von für fuer an auf im zum zur
    danke hallo anhang angehängte angehängten angehängt fasse fass zusammen zusammenfassung schick schicke sende
    suche finde zeig zeige erinnere morgen uhr jeden jede entwurf liebe grüße gruss gruß kürzer nimm statt meine
    mails nach was wartet welche wie geht sende schreib schreibe leite weiter sowie auch noch aber dann
""")
ENGLISH_MARKS = _words("""
    please and the a an to of my me i is are not with from for on at it this that thanks hello hi send summarise
    summarize mail find search list show remind draft write attached attachment what which who how her his
    instead use shorter every tomorrow do does can could would you your in
""")


def _any(*alternatives: str) -> re.Pattern[str]:
    """One pattern of several, each at a word's start and end."""
    return re.compile("|".join(rf"(?<!\w)(?:{one})(?!\w)" for one in alternatives))


SUMMARISE = _any(
    r"summ?[ae]r(?:i[sz]e[sd]?|i[sz]ing|y|ies)", r"rundown", r"make\s+(?:\S+\s+){1,4}shorter",
    r"sum(?:s|ming)?\s+(?:\S+\s+){0,4}?up", r"tl;?dr", r"gist", r"recap\w*", r"synopsis",
    r"(?:key|main|important|central|essential)\s+(?:points?|facts?|takeaways?|messages?|findings?|parts?|things?)",
    r"takeaways?", r"brief\s+\S+@\S+\s+on", r"condense", r"digest", r"overview", r"boil\s+(?:\S+\s+){1,3}down",
    r"in\s+a\s+nutshell", r"highlights", r"abstract\s+of", r"short(?:er)?\s+version", r"shorten", r"bullet\s+points?",
    r"what(?:'s|\s+is|\s+does|\s+do|\s+are)\s+(?:in\s+)?(?:the|this|that|these|those|my)?\s*"
    r"(?:attached|attachments?|file|document|notes?|text|pdf|report|minutes|following)\b.*",
    r"zusammen(?:fass\w*|zufassen)", r"fass(?:e|t|en)?\b.*\bzusammen", r"kurzfassung", r"kern(?:punkte|aussagen)",
    r"wichtigste[nr]?\b.*\b(?:punkte|aussagen|inhalte)", r"das\s+wichtigste", r"überblick", r"worum\s+geht",
    r"was\s+steht\s+(?:in|im|auf)\s+(?:der|dem|den|diese[rmn]|meine[rmn])\s+(?:\S+\s+)?"
    r"(?:datei(?:en)?|anhang|anhängen|dokumente?n?|bericht|protokoll|text|notizen|pdf)\b.*",
)  # packed, to be seen at a glance  # fmt: skip
SEND = _any(
    r"send(?:s|ing)?", r"sent", r"forward", r"share", r"deliver", r"e-?mail", r"mail", r"pass", r"shoot",
    r"fire\s+off", r"get\s+\S+.*\bto", r"let", r"inform", r"notify", r"tell", r"write", r"answer", r"reply",
    r"invite", r"ask", r"thank", r"cc", r"copy", r"for", r"to", r"needs?", r"wants?", r"give", r"brief", r"update",
    r"hand", r"gib", r"should\s+(?:get|have|receive)", r"goes?\s+to",
    r"(?:ab|zu|ver)?(?:schick|send|mail|schreib|übermittl)(?:e|en|t)?", r"leite?\b.*\bweiter",
    r"weiter(?:leiten|zuleiten)", r"informiere?", r"sag(?:e|en)?", r"teil(?:e)?\b.*\bmit", r"frag(?:e|en)?",
    r"antwort(?:e|en)?", r"an", r"für", r"bekomm(?:t|en)", r"braucht", r"erhalten",
)  # packed, to be seen at a glance  # fmt: skip
SEND_VERB = _any(
    r"(?:send|forward|share|deliver|e-?mail|mail|shoot)\s+(?!me\b|myself\b|us\b)\S+", r"pass\s+\S+\s+(?:on|along)",
    r"(?:tell|inform|invite|notify|ask|thank)\s+(?!me\b|us\b)\S+", r"let\s+(?!me\b|us\b)\S+\s+know",
    r"(?:write|reply|answer)\s+(?:a\s+|an\s+)?(?:(?:short|brief|quick|polite|friendly)\s+)?(?:e-?mail|mail|message|note|letter|to)\b",
    r"(?:ab|zu|ver)?(?:schick|send|mail|übermittl)(?:e|en)\b(?!\s+mir)", r"schick\b(?!\s+mir)", r"leite?\b.*\bweiter",
    r"weiterleiten", r"schreib(?:e|en)?", r"informiere?", r"sag(?:e)?\s+(?!mir)\S+", r"frag(?:e)?\s+(?!mich)\S+",
    r"antworte",
)  # packed, to be seen at a glance  # fmt: skip
FORWARD = _any(
    r"forward",
    r"(?:send|mail|e-?mail|share|pass|schick\w*|sende\w*|maile?)\b.*"
    r"\b(?:attached|attachments?|files?|documents?|pdfs?|originals?|anhang|anhänge|angehängt\w*|dateien?|dokumente?)",
    r"leite?\b.*\bweiter", r"weiterleiten", r"attach\s+(?:the|it|them|this|that|all|both)",
)  # packed, to be seen at a glance  # fmt: skip
DRAFT = _any(
    r"drafts?", r"drafted", r"drafting", r"compose", r"prepare\b.*\b(?:e-?mail|mail|message|letter|reply|note)",
    r"entw(?:urf|irf|erfen|ürfe)", r"vorbereite\w*", r"bereite\b.*\bvor",
)  # packed, to be seen at a glance  # fmt: skip
NOT_SEND = _any(
    r"(?:do\s+not|don't|dont|never|without|not)\s+(?:yet\s+|actually\s+)?send(?:ing)?", r"not\s+sent",
    r"nicht\s+(?:gleich\s+|sofort\s+)?(?:ab|ver)?(?:schicken|senden)", r"(?:schick|sende)e?\b.*\bnicht\b(?:\s+ab)?",
    r"ohne\s+zu\s+senden",
)  # packed, to be seen at a glance  # fmt: skip
SEARCH = _any(
    r"search(?:ing)?", r"find", r"look\s+(?:up|for|through|in)", r"locate", r"dig\s+(?:up|out)",
    r"(?:have|did|do)\s+i\s+(?:\S+\s+)?(?:have|got|get|receive[d]?)", r"(?:is|are)\s+there",
    r"any(?:thing)?(?:\s+new)?\s+from", r"where\s+(?:is|are)", r"where's", r"when\s+did", r"what\s+did",
    r"which\s+mails?", r"durchsuche\w*", r"such(?:e|en)?", r"finde?n?", r"gibt\s+es", r"hab(?:e)?\s+ich", r"wo\s+ist",
)  # packed, to be seen at a glance  # fmt: skip
MAIL_NOUN = _any(
    r"e-?mails?", r"mails?", r"messages?", r"inbox", r"mailbox", r"letters?", r"correspondence", r"posteingang",
    r"postfach", r"nachrichten?", r"post",
)  # packed, to be seen at a glance  # fmt: skip
LIST = _any(
    r"list", r"show", r"display", r"enumerate", r"give\s+me", r"tell\s+me", r"which", r"what", r"what's",
    r"how\s+many", r"any", r"liste?", r"zeig(?:e|en)?", r"nenne?", r"welche[rsn]?", r"was", r"wie\s+viele",
    r"auflisten", r"check",
)  # packed, to be seen at a glance  # fmt: skip
WAITING = _any(
    r"wait(?:s|ing)?", r"pending", r"open\s+(?:requests?|approvals?|questions?)", r"needs?\s+my", r"to\s+approve",
    r"approvals?", r"to\s+decide", r"wartet", r"warten", r"offene?n?\s+\S+", r"ausstehend\w*", r"genehmig\w*",
    r"entscheid\w*",
)  # packed, to be seen at a glance  # fmt: skip
MANNER = re.compile(
    r"(?:please\s+|bitte\s+)?(?:keep|make|use|focus|mention|include|add|don't|do\s+not|write\s+it|it\s+(?:should|must|need)|i\s+(?:only\s+)?(?:want|need|would)"
    r"|no\s+more\s+than|at\s+most|thanks?|halte?|nimm|nutze|erwähne|ergänze|höchstens|es\s+soll|ich\s+(?:will|brauche|möchte)|danke)\b"
)  # packed, to be seen at a glance  # fmt: skip
REQUEST = re.compile(r"(?:please\s+)?(?:can|could|would|will|may|might|should|kannst|könntest|würdest|könnten)\b")
UNREAD = _any(
    r"unread", r"new", r"ungelesen\w*", r"neue?[nsr]?",
)  # packed, to be seen at a glance  # fmt: skip
REMIND = _any(
    r"remind\s+(?:me|us)", r"(?:set|create|make)\s+(?:a\s+|me\s+a\s+)?reminder", r"(?:ping|nudge|wake)\s+me",
    r"(?:every|each)\s+(?:\w+\s+)?(?:day|morning|evening|week|weekday|month|hour|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday)",
    r"jede[nrs]?\s+(?:tag|morgen|abend|woche|werktag|monat|stunde|\w+tag|mittwoch)",
    r"erinner(?:e|t|n)?\s+(?:mich|uns)", r"mich\b.*\berinnern",
)  # packed, to be seen at a glance  # fmt: skip
READ = _any(
    r"read", r"open", r"quote", r"print", r"what\s+(?:does|did)\b.*\b(?:say|write|want)", r"contents?",
    r"full\s+text", r"extract", r"lies", r"öffne", r"was\s+(?:steht|schreibt|schrieb)", r"inhalt", r"vorlesen",
)  # packed, to be seen at a glance  # fmt: skip
HELP = _any(
    r"what\s+(?:can|do|else\s+can)\s+you\s+(?:do|offer)(?:\s+for\s+me)?", r"who\s+are\s+you",
    r"how\s+do(?:es)?\s+(?:you|this|i\s+use)\b.*", r"was\s+kannst\s+du", r"wer\s+bist\s+du",
    r"are\s+you\s+(?:an?\s+)?(?:ai|bot|human|real)", r"what\s+are\s+you", r"capabilities",
)  # packed, to be seen at a glance  # fmt: skip
HELP_ALONE = re.compile(r"\W*(?:please\s+)?(?:help|hilfe)(?:\s+(?:me|please|bitte))?\W*")
THANKS = re.compile(
    r"\W*(?:many\s+)?(?:thanks?|thank\s+you|thx|cheers|great|perfect|nice|good|super|excellent|wonderful|vielen\s+dank|danke(?:schön)?|prima|toll)"
    r"(?:\W+(?:a\s+lot|so\s+much|very\s+much|again|job|work|stuff|thanks?|you|danke|dank|gemacht|schön|dir|vielmals|for|your|the|help|quick|summary))*\W*"
)  # packed, to be seen at a glance  # fmt: skip
ATTACHED = _any(
    r"attach\w*", r"enclosed?", r"anh[aä]ng\w*", r"angehängt\w*", r"beigefügt\w*", r"anlagen?", r"beilage", r"anbei",
)  # packed, to be seen at a glance  # fmt: skip
FILE_NOUN = _any(
    r"files?", r"documents?", r"docs?", r"pdfs?", r"spreadsheets?", r"reports?", r"notes", r"minutes", r"paper",
    r"transcript", r"dateien?", r"dokumente?n?", r"bericht\w*", r"notizen", r"protokolle?", r"unterlagen",
)  # packed, to be seen at a glance  # fmt: skip
SELF_TEXT = _any(
    r"following", r"below", r"this\s+(?:text|mail|message|e-?mail|paragraph|article|passage)", r"above",
    r"folgende[nsr]?", r"untenstehende[nsr]?", r"diese[nsr]?\s+(?:text|mail|nachricht|absatz)", r"obige[nsr]?",
    r"unten", r"oben",
)  # packed, to be seen at a glance  # fmt: skip
TO_SELF = _any(
    r"(?:to|for)\s+(?:me|myself|us)", r"(?:send|mail|e-?mail|tell|give)\s+me", r"(?:an|für)\s+mich", r"mir",
)  # packed, to be seen at a glance  # fmt: skip
ADDRESS_IS = _any(
    r"(?:e-?mail\s+)?address(?:es)?\s*(?:is|are|:)", r"(?:reach|write\s+to)\s+(?:him|her|them)\s+at",
    r"(?:e-?mail-?)?adressen?\s*(?:ist|lautet|sind|:)",
)  # packed, to be seen at a glance  # fmt: skip

SHORTER = _any(
    r"short(?:er|en)?", r"brief(?:er|ly)?", r"too\s+long", r"less\s+(?:text|detail|words)", r"trim", r"kürzer\w*",
    r"zu\s+lang", r"kürze", r"knapper", r"concise",
)  # packed, to be seen at a glance  # fmt: skip
LONGER = _any(
    r"long(?:er)?", r"more\s+detail\w*", r"too\s+short", r"more\s+(?:text|sentences|points)",
    r"(?:in\s+)?detail(?:ed)?", r"expand", r"länger\w*", r"ausführlich\w*", r"zu\s+kurz",
    r"mehr\s+(?:details?|punkte|sätze)",
)  # packed, to be seen at a glance  # fmt: skip
ADD_TOO = _any(
    r"also", r"too", r"as\s+well", r"add", r"cc", r"in\s+addition", r"additionally", r"both", r"include", r"auch",
    r"zusätzlich", r"außerdem", r"ergänze",
)  # packed, to be seen at a glance  # fmt: skip
STOP_IT = _any(
    r"cancel", r"forget\s+(?:it|about)", r"never\s*mind", r"leave\s+it", r"drop\s+it",
    r"(?:do\s+not|don't|dont)\s+send", r"no\s+longer", r"not\s+needed", r"vergiss", r"lass\s+(?:es|das)",
    r"nicht\s+(?:ab)?(?:senden|schicken)", r"abbrechen", r"doch\s+nicht",
)  # packed, to be seen at a glance  # fmt: skip
GREETING = re.compile(
    r"(?:hi|hello|hey|dear|good\s+(?:morning|afternoon|evening)|hallo|guten\s+(?:tag|morgen|abend)|liebe[rs]?|sehr\s+geehrte[rs]?|servus|moin)"
    r"(?:\s+[^\s,.!?:]+){0,3}\s*[,.!:]*\s*"
)  # packed, to be seen at a glance  # fmt: skip
CLOSING = re.compile(
    r"(?:thanks?(?:\s+\w+){0,4}|thank\s+you(?:\s+\w+){0,4}|many\s+thanks|best(?:\s+\w+)?|(?:kind|best|warm)\s+regards|regards|cheers|yours(?:\s+\w+)?"
    r"|sincerely|sent\s+from\s+my\b.*|vg|lg|mfg|danke(?:\s+\w+){0,3}|vielen\s+dank(?:\s+\w+){0,3}|(?:viele|liebe|beste|schöne)\s+grüße"
    r"|mit\s+freundlichen\s+grüßen|gruß|grüße|von\s+meinem\b.*)[,.!]*\s*"
)  # packed, to be seen at a glance  # fmt: skip
LEAD_VERBS = (
    r"(?:please\s+|bitte\s+|also\s+|then\s+|dann\s+|afterwards\s+|finally\s+)*"
    r"(?:summari[sz]e|sum\s|send|forward|draft|write|compose|prepare|remind|search|find|look|list|show|tell|let\s|notify|inform|give|ask|share|pass"
    r"|reply|read|put|save|deliver|thank\s|invite\s|brief\s|reply\s|answer\s|e-?mail\s|mail\s+(?:it|this|that|them|the|a|me|her|him|\S+@)|fasse?|sende|schick|maile|leite|such|finde|zeig"
    r"|erinner|schreib|entwirf|erstelle|lies|sag|informiere|an\s+\S+@)"
)
GENERIC_BOXES = _words("""
    info office sales team support contact kontakt mail post admin hello help service noreply no-reply billing
    accounts press hr jobs legal cfo ceo cto coo prof finance marketing editor redaktion accounting boss chef me
    you all everyone buero list staff
""")

NO_NAMES = _words("""
    to for an für from von at cc and und summary it this that the attached notes file pdf csv drafts draft inbox
    please subject i monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december english german me my mail email a all everything anhang
    datei zusammenfassung entwürfe mich mir ihn sie es posteingang montag dienstag mittwoch donnerstag freitag
    samstag sonntag punkte text bericht protokoll dokument notizen use send take try make change replace put write
    please sorry actually no not yes ok okay rather instead better only just but nimm besser lieber bitte nein nicht
    sondern statt
""")

QUERY_NOISE = _words("""
    came come how many
    search find look lookup up through in for all any the my a an e-mail email emails mail mails message
    messages inbox mailbox from about regarding concerning on of by with that which where is are was were there
    do did have has i got get received sent containing contains mentioning mention mentions said say says me
    please and then list show give tell latest last newest recent most first what when who whose subject it to
    if know new unread today yesterday week month this you your can could would like want see display locate dig
    out every read open summarise summarize summary summaries forward letter letters suche such suchen
    durchsuche finde meine meinem meinen mein alle nachrichten nachricht posteingang postfach von über nach zu
    zum zur der die das den dem mit im habe hab ich gibt es eine einen ein letzte letzten neueste neuesten zeige
    zeig mir bitte und welche steht hat fasse fass zusammen zusammenfassung thing anything something write wrote
    written schrieb schreibt geschrieben gesagt geschickt ungelesene ungelesenen neue heute gestern woche
""")

WEEKDAYS = MappingProxyType(
    {
        "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5,
        "sunday": 6, "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5,
        "sonnabend": 5, "sonntag": 6,
    }
)  # packed, to be seen at a glance  # fmt: skip
NUMBERS = MappingProxyType(
    {
        "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
        "nine": 9, "ten": 10, "twelve": 12,
        "ein": 1, "eine": 1, "einen": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4,
        "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12, "eins": 1, "single": 1,
    }
)  # packed, to be seen at a glance  # fmt: skip
