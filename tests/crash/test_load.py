"""`kill -9` under load: many clients submit and append at once while the server dies several times.

Every 250 and every OK is a promise: what was promised is there after the last start, each once.
"""

import random
import signal
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.crash.histories import Town
from tests.crash.lives import ADDRESS, House, Life, arguments, launch, program
from tests.crash.user import Gone, Posted, alive, compose, holds, imap_session, smtp_session

SUBMITTERS = 20
APPENDERS = 4
KILLS = 3


class Doors:
    """Which life of the server the clients are to use. They wait here between two lives."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._life: Life | None = None
        self.promises = 0
        self.over = False

    def open(self, life: Life) -> None:
        """A new life is ready."""
        with self._changed:
            self._life = life
            self._changed.notify_all()

    def close(self) -> None:
        """No new mails are to be begun."""
        self.over = True

    def enter(self, after: Life | None) -> Life:
        """The life that comes after one that has died."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._life is not None and self._life is not after, 60.0)
            assert self._life is not None
            return self._life

    def kept(self) -> None:
        """One more promise was given."""
        with self._changed:
            self.promises += 1
            self._changed.notify_all()

    def wait(self, promises: int) -> None:
        """Wait until so many promises were given."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.promises >= promises, 60.0), self.promises


@dataclass
class Client:
    """A thread that sends one mail after the other, each until it is accepted."""

    name: str
    doors: Doors
    send: Callable[["Client", Life, Posted], None]
    mails: list[Posted] = field(default_factory=list)
    retries: int = 0
    fault: BaseException | None = None

    def run(self) -> None:
        """Until the doors say that it is over and the mail in hand is accepted."""
        life: Life | None = None
        try:
            while not self.doors.over:
                mail = Posted(compose(ADDRESS, f"{self.name} {len(self.mails)}", "Under load.\n"))
                self.mails.append(mail)
                while not mail.accepted:
                    life = life or self.doors.enter(None)
                    mail.tries += 1
                    try:
                        self.send(self, life, mail)
                        mail.accepted = True
                        self.doors.kept()
                    except Gone:
                        self.retries += 1
                        life = self.doors.enter(life)
        except BaseException as error:  # told by the test: a thread that dies silently would look like one that is done
            self.fault = error


def submit(client: Client, life: Life, mail: Posted) -> None:
    with alive(life), smtp_session(life) as smtp:
        smtp.sendmail(ADDRESS, ADDRESS, mail.raw)


def append(client: Client, life: Life, mail: Posted) -> None:
    with alive(life), imap_session(life) as imap:
        if mail.tries == 1 or not holds(imap, "Archive", mail.message_id):
            imap.append("Archive", mail.raw)


def start(house: House) -> Life:
    """A program of its own: no warm start here."""
    ready = house.folder / "ready.json"
    life = launch([*program(), *arguments(house.home, ready)], ready)
    assert life.ready(), life.text()
    return life


def found(life: Life, folder: str) -> Counter[str]:
    """How often each Message-ID stands in a folder."""
    with alive(life), imap_session(life) as imap:
        imap.select_folder(folder, readonly=True)
        uids = imap.search(["ALL"])
        rows = imap.fetch(uids, ["ENVELOPE"]) if uids else {}
        return Counter(row[b"ENVELOPE"].message_id.decode() for row in rows.values())


def test_every_promise_is_kept_under_load(town: Town) -> None:
    dice = random.Random(20)
    doors = Doors()
    clients = [Client(f"submitter {n}", doors, submit) for n in range(SUBMITTERS)]
    clients += [Client(f"appender {n}", doors, append) for n in range(APPENDERS)]
    threads = [threading.Thread(target=client.run) for client in clients]
    with town.house() as house:
        life = start(house)
        doors.open(life)
        for thread in threads:
            thread.start()
        try:
            for _ in range(KILLS):
                doors.wait(doors.promises + dice.randint(30, 90))
                life.signal(signal.SIGKILL)
                assert life.ended()
                life = start(house)
                doors.open(life)
            doors.wait(doors.promises + 30)
        finally:
            doors.close()
            for thread in threads:
                thread.join(120.0)
        assert [client.fault for client in clients if client.fault] == []
        promised = {mail.message_id for client in clients for mail in client.mails}
        submitted = {mail.message_id for client in clients if client.send is submit for mail in client.mails}
        assert sum(client.retries for client in clients) >= SUBMITTERS, "it was not killed under load"
        assert len(promised) >= KILLS * 30
        once = dict.fromkeys(submitted, 1)
        assert found(life, "INBOX") == once
        assert found(life, "Sent") == once
        assert found(life, "Archive") == dict.fromkeys(promised - submitted, 1)
        assert life.stop() == 0
