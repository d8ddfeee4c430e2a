"""Keywords at their limit: what a client is told when no more can be made, and when more are wanted."""

from pathlib import Path

from mailstore.keywords import MAX_KEYWORDS
from tests.imap.harness import letter, open_house


async def test_at_the_limit_permanentflags_promises_no_new_keywords(tmp_path: Path) -> None:
    # req 7.1-permanentflags
    # req rfc9051/7.1-keyword-limit
    async with open_house(tmp_path) as house:
        await house.append("INBOX", letter("one"))
        client = await house.login(select="INBOX")
        names = [b"k%d" % number for number in range(MAX_KEYWORDS)]
        before = await client.command(b"STORE 1 +FLAGS (" + b" ".join(names[:-2]) + b")")
        assert b"\\*)] " in before.only(b"OK")[0]
        silent = await client.command(b"STORE 1 +FLAGS.SILENT (" + names[-2] + b")")
        assert silent.untagged == []
        at_limit = await client.command(b"STORE 1 +FLAGS.SILENT (" + names[-1] + b")")
        [told] = at_limit.only(b"OK")
        assert b" k511 " in told
        assert b"\\*" not in told
        other = await house.login()
        selected = await other.command("SELECT INBOX")
        assert not any(b"\\*" in line for line in selected.untagged)


async def test_one_keyword_too_many_is_refused_with_limit_and_nothing_is_set(tmp_path: Path) -> None:
    # req rfc9051/7.1-limit
    async with open_house(tmp_path) as house:
        await house.append("INBOX", letter("one"))
        client = await house.login(select="INBOX")
        names = b" ".join(b"k%d" % number for number in range(MAX_KEYWORDS + 1))
        answer = await client.command(b"STORE 1 +FLAGS (" + names + b")")
        assert answer.status == b"NO"
        assert answer.text.startswith(b"[LIMIT] ")
        assert (await client.command("FETCH 1 FLAGS")).untagged == [b"1 FETCH (FLAGS (\\Recent))"]
