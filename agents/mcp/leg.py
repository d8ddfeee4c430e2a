"""One leg of a call to a server: from the request to its result, or to a question that the call is parked for.

The rule: a question in words is given back, since a person answers by mail; anything else that a server may want of its
client in a call (a model's answer, a visit to an address) is declined as the SDK does it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp import Client

from agents.mcp.asking import Wanted


@dataclass(frozen=True, slots=True)
class Resume:
    """A call that goes on where it stopped for a question: the answers by the server's keys, and its own state; `held`:
    the call was kept open at the server meanwhile.
    """

    responses: Mapping[str, Any]
    state: str | None
    held: bool = False

    def fields(self) -> dict[str, Any]:
        """As the SDK takes them."""
        answers = {name: types.ElicitResult.model_validate(one) for name, one in self.responses.items()}
        return {"request_state": self.state, "input_responses": answers}


async def run(
    client: Client,
    tool: str,
    args: dict[str, Any],
    more: dict[str, Any],
    resume: Resume | None,
    clean: Callable[[str], str],
) -> types.CallToolResult | Wanted:
    """Make one leg. `more` is what every request has: meta and the callback for progress."""
    going_on = resume.fields() if resume is not None else {}
    result: Any = await client.session.call_tool(tool, args, allow_input_required=True, **more, **going_on)
    if not isinstance(result, types.InputRequiredResult):
        done: types.CallToolResult = result
        return done
    wants = result.input_requests or {}
    forms = {name: one.params for name, one in wants.items() if isinstance(one, types.ElicitRequest)}
    plain = {name: form for name, form in forms.items() if isinstance(form, types.ElicitRequestFormParams)}
    if not plain or len(plain) != len(wants):
        return await client.call_tool(tool, args, **more)
    questions = {
        name: {"message": clean(form.message), "schema": form.requested_schema} for name, form in plain.items()
    }
    return Wanted(result.request_state, questions)
