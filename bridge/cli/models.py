"""`postroom models`: which models there are, and whether one works.

The rule: a list calls nobody; a test calls once, shows no key, and says what to do about a failure in a sentence.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from bridge.cli.common import FAILED, USAGE, AsJson, CliError, Config, Home, print_json, settings_of

Tag = Annotated[str, typer.Argument(help="The model's tag, as `postroom models` shows it.")]


def models(ctx: typer.Context, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the configured models by tag. No model is called."""
    if ctx.invoked_subcommand is None:
        models_list(home, config, as_json)
    elif home or config or as_json:
        raise CliError(
            "options stand behind the command", f"postroom models {ctx.invoked_subcommand} ... --home DIR", USAGE
        )


def models_list(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the configured models by tag. No model is called."""
    settings = settings_of(home, config)
    used = {
        tag: [name for name, agent in settings.agents.items() if tag in (agent.model, *agent.fallbacks)]
        for tag in settings.models
    }
    rows = [
        {
            "tag": model.name,
            "provider": model.provider,
            "model": model.model,
            "key": model.api_key.reference if model.api_key else None,
            "base": model.api_base or None,
            "price": None if model.price_in is None or model.price_out is None else [model.price_in, model.price_out],
            "agents": used[model.name],
        }
        for model in settings.models.values()
    ]
    if as_json:
        print_json(rows)
        return
    from bridge.cli.table import show

    columns = ("tag", "provider", "model", "key", "base")
    shown = [
        (
            *(str(each[name] or "") for name in columns),
            _price(each["price"], each["provider"]),
            ", ".join(used[str(each["tag"])]),
        )
        for each in rows
    ]
    show("Models", (*columns, "EUR a million in/out", "agents"), shown)


def _price(price: object, provider: object) -> str:
    if provider == "demo":
        return "free"
    return f"{price[0]:g} / {price[1]:g}" if isinstance(price, list) else "LiteLLM's list"


def models_test(name: Tag, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Call a model once and say whether it works; if not, why and what to do (exit code 1)."""
    import asyncio
    from dataclasses import asdict

    from agents.trial import Trial, try_out
    from config.build import did_you_mean
    from config.load import prepare_library_environment
    from config.redact import start_logging

    settings = settings_of(home, config)
    wanted = settings.models.get(name)
    if wanted is None:
        raise CliError(f"there is no model {name!r} in the settings", did_you_mean(name, settings.models), USAGE)
    prepare_library_environment()
    redactor = start_logging(settings)

    async def once() -> Trial:
        from agents import discover

        try:
            return await try_out(wanted, settings.limits)
        finally:
            await discover.close()

    trial = asyncio.run(once())
    told = {key: redactor.clean(value) if isinstance(value, str) else value for key, value in asdict(trial).items()}
    if as_json:
        print_json({**told, "cost": None if told["cost"] is None else float(told["cost"])})
    else:
        typer.echo("\n".join(_lines(told)))
    if told["why"]:
        raise typer.Exit(FAILED)


def _lines(told: Mapping[str, Any]) -> list[str]:
    from config.redact import escape

    where = told["endpoint"] or "this machine"
    if told["why"]:
        return [
            f"{told['tag']} ({told['label']} at {where}) does not work.",
            escape(str(told["why"])),
            escape(str(told["fix"])),
        ]
    cost = "an unknown amount" if told["cost"] is None else f"{told['cost']:.6f} EUR"
    size = "an unknown number of tokens" if told["tokens"] is None else f"{told['tokens']} tokens"
    also = f" It also takes {' and '.join(map(str, told['takes']))}." if told["takes"] else ""
    return [
        f"{told['tag']} ({told['label']} at {where}) works: it answered in {told['seconds']:.1f} s.",
        f'It said "{escape(str(told["said"]))}"; that took {size} and cost {cost}.',
        f"Its window is {told['window']:,} tokens.{also}",
    ]
