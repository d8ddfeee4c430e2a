"""Calls that are kept open while their server waits for an answer of the user, as the older protocol has it.

The rule: the call is parked as a row like any other that asks; what is kept here is the open end at the server, which a
stop of the run or the end of the connection takes away. An answer that finds it gone is told so, and nothing is called
a second time for it here.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import mcp_types as types

Json = dict[str, Any]
Leg = Coroutine[Any, Any, Any]

QUESTION: Final = "asked"
"""The one key of a question that comes alone, without keys of its server's."""
MOST: Final = 32
"""So many calls of one server may wait for answers; the questions of more are declined."""
LONGEST: Final = 500


@dataclass(eq=False, slots=True)
class Talk:
    """One call on a connection (`link`). `asked` gets what the server wants to know, `answer` what the user says to
    it; `told` hears how far it is.
    """

    key: str
    run: str
    told: Callable[[str], None]
    asked: "asyncio.Future[Json]"
    answer: "asyncio.Future[types.ElicitResult]"
    link: Any
    task: "asyncio.Task[Any]"
    waits: bool = False

    def say(self, responses: Mapping[str, Any]) -> bool:
        """Hand the user's answer over. False: the server does not wait for it any more."""
        if self.task.done() or self.answer.done():
            return False
        self.answer.set_result(types.ElicitResult.model_validate(responses[QUESTION]))
        loop = asyncio.get_running_loop()
        self.waits, self.asked, self.answer = False, loop.create_future(), loop.create_future()
        return True

    def give_up(self) -> None:
        """Cancel the call, which tells its server, and whatever it waits for."""
        self.task.cancel()
        if self.waits and not self.answer.done():
            self.answer.set_result(types.ElicitResult(action="cancel"))


@dataclass(slots=True)
class Talks:
    """The calls of one server: those under way, and those of them that wait for an answer, by their key."""

    clean: Callable[[str], str]
    live: set[Talk] = field(default_factory=set)
    held: dict[str, Talk] = field(default_factory=dict)
    declined: list[str] = field(default_factory=list)

    def begin(self, key: str, run: str, told: Callable[[str], None], link: Any, call: Leg) -> Talk:
        """A call begins, in a task of its own."""
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(call, name="mcp call")
        talk = Talk(key, run, told, loop.create_future(), loop.create_future(), link, task)
        self.live.add(talk)
        return talk

    async def elicited(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        """A question of the server. It does not say in which call it asks: it is asked only when there is but one."""
        candidates = [talk for talk in self.live if not talk.waits]
        if len(candidates) != 1 or len(self.held) >= MOST or not isinstance(params, types.ElicitRequestFormParams):
            self.declined.append(self.clean(params.message)[:LONGEST])
            return types.ElicitResult(action="decline")
        [talk] = candidates
        talk.waits, answer = True, talk.answer
        talk.asked.set_result({"message": self.clean(params.message), "schema": params.requested_schema})
        return await answer

    def hold(self, talk: Talk) -> None:
        """The caller goes and leaves its call open."""
        self.live.discard(talk)
        self.held[talk.key] = talk
        talk.task.add_done_callback(_hear)

    def resume(self, key: str) -> Talk | None:
        """The open end of a call whose answer is there, if there still is one."""
        talk = self.held.pop(key, None)
        if talk is not None:
            self.live.add(talk)
        return talk

    def end(self, talk: Talk) -> None:
        """A caller has what it came for, or was cut off."""
        self.live.discard(talk)
        if not self.live and not self.held:
            self.declined.clear()

    def drop(self, run: str | None = None) -> None:
        """Give up the open ends of a run that has ended, or all of them with their connection. The server is told."""
        for talk in [talk for talk in self.held.values() if run is None or talk.run == run]:
            del self.held[talk.key]
            talk.give_up()


def _hear(task: "asyncio.Task[Any]") -> None:
    """How a call ended that nobody waits for right now is read when its answer comes, if ever."""
    if not task.cancelled():
        task.exception()
