"""Import-linter contracts of our own; unlike the built-in ones they hold while a package does not exist yet."""

from collections.abc import Iterable, Iterator

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


def within(module: str, prefix: str) -> bool:
    """Is the module the package `prefix` or inside it?"""
    return module == prefix or module.startswith(prefix + ".")


def inside(graph: ImportGraph, prefix: str) -> list[str]:
    """The modules of the graph in a package."""
    return sorted(module for module in graph.modules if within(module, prefix))


def _result(findings: Iterable[str]) -> ContractCheck:
    found = list(findings)
    return ContractCheck(kept=not found, metadata={"findings": found})


class Only(Contract):
    """Modules of `source` import nothing of ours but `allowed`."""

    source = fields.StringField()
    allowed = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Looks at direct imports, which is enough as the allowed ones are bound by contracts too."""
        return _result(self._findings(graph))

    def _findings(self, graph: ImportGraph) -> Iterator[str]:
        for module in inside(graph, str(self.source)):
            for imported in sorted(graph.find_modules_directly_imported_by(module)):
                if not any(within(imported, str(prefix)) for prefix in self.allowed):  # type: ignore[attr-defined]  # a field reads as its value
                    yield f"{module} imports {imported}"

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each offending import."""
        _render(check)


class Never(Contract):
    """No module of `source` reaches a module of `forbidden`, by any chain of imports."""

    source = fields.StringField()
    forbidden = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Looks at chains, so that a detour is found as well."""
        return _result(self._findings(graph))

    def _findings(self, graph: ImportGraph) -> Iterator[str]:
        targets = [module for prefix in self.forbidden for module in inside(graph, str(prefix))]  # type: ignore[attr-defined]  # as above
        for module in inside(graph, str(self.source)):
            for target in targets:
                chain = graph.find_shortest_chain(importer=module, imported=target)
                if chain is not None:
                    yield " -> ".join(chain)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each chain."""
        _render(check)


class Apart(Contract):
    """The modules directly in the package `parent` do not import each other; what they share is named `_so`."""

    parent = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """The package's own __init__ may import all of them; they may not import it."""
        return _result(self._findings(graph))

    def _findings(self, graph: ImportGraph) -> Iterator[str]:
        parent = str(self.parent)
        for module in inside(graph, parent):
            if module == parent:
                continue
            own = ".".join(module.split(".")[: parent.count(".") + 2])
            for imported in sorted(graph.find_modules_directly_imported_by(module)):
                shared = imported.startswith(f"{parent}._")
                if within(imported, parent) and not within(imported, own) and not shared:
                    yield f"{module} imports {imported}"

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each offending import."""
        _render(check)


def _render(check: ContractCheck) -> None:
    for finding in check.metadata["findings"]:
        output.print_error(finding)
