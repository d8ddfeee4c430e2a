"""What the user can do about a run that failed because of its model, by the kind of the failure.

The rule: one sentence that names the setting or the command, and the word that tries it again.
"""

from collections.abc import Mapping
from typing import Final

from agents.llm import ModelFault
from agents.office import Office
from agents.ports import ReadTx
from agents.states import RunState
from agents.store import Run

_TRY: Final = 'then answer this mail with "retry"'
_SAYS: Final = "`postroom models test {tag}` says more"
_CURES: Final[Mapping[ModelFault, str]] = {
    ModelFault.AUTH: f'put a valid key for the model "{{tag}}" where [models.{{tag}}] refers to ({_SAYS}), {_TRY}.',
    ModelFault.QUOTA: f'add credit at the provider of "{{tag}}", or give the agent another model, {_TRY}.',
    ModelFault.GONE: f"look its name up in the provider's list and correct [models.{{tag}}] ({_SAYS}), {_TRY}.",
    ModelFault.CONTEXT: (
        "ask for a smaller part of it, send fewer or shorter files, or write to a model with a larger window "
        '(`{agent}+TAG@`). To try the same again, answer this mail with "retry".'
    ),
    ModelFault.RATE: f"wait a while, or give the agent another model, {_TRY}.",
    ModelFault.REFUSED: f"its words above say why; change what it objects to, {_TRY} or with other words.",
    ModelFault.TRANSIENT: f'see whether this machine reaches the provider of "{{tag}}" ({_SAYS}), {_TRY}.',
    ModelFault.TIMEOUT: (
        f"{_TRY.removeprefix('then ')}; if it stays slow, raise first_byte_seconds or model_seconds under [limits], or "
        "ask for less at once."
    ),
}


def of_run(tx: ReadTx, office: Office, run: Run, state: RunState) -> str | None:
    """The advice for a run that ended badly at its model; None where the model is not why."""
    row = tx.one("agents.models.last", run=run.id) if state is RunState.FAILED else None
    if row is None or row["state"] != "failed":
        return None
    tag = next((tag for tag, model in office.models.items() if model.label == row["model"]), row["model"])
    return of_fault(ModelFault(row["fault"]), tag, run.agent)


def of_fault(kind: ModelFault, tag: str, agent: str) -> str:
    """The advice for one kind of failure of the model of a tag."""
    return f"What to do: {_CURES[kind].format(tag=tag, agent=agent)}"
