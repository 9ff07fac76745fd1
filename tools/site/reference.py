"""The reference: pages made of the schemas, the presets, the policies, the command line and docstrings."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import schema_pages
from schema_pages import flattened, toml
from writing import code, escaped, sentence, table, toctree

import ninescope
from ninescope.common import catalogue
from ninescope.toml import loads

INDEX = """# Reference

Made of what the program reads, so that it cannot say otherwise than the program does.

| | |
| --- | --- |
| [keys of a drive](drive/index.md) | every key with its unit, its default, and what the default drive has |
| [keys of a job](job.md), [of a profile](profile.md) | the same of what a drive is asked to do |
| [presets](presets/index.md) | every value of every drive that comes with ninescope, with its source |
| [policies](policies.md) | the algorithms that a drive can name |
| [commands](commands.md) | every option of the command line |
| [the Python package](python/index.rst) | classes and functions, from their docstrings |
"""

PRESET = """\
Every value, and where it comes from. One without a source is that of every drive of which nothing is
said; where the preset sets it and names no source, that is said.
"""


def texts() -> dict[str, str]:
    """Return the pages of the reference, by where they lie on the site."""
    presets = catalogue.presets("drives")
    below = ["drive/index", "job", "profile", "presets/index", "policies", "commands", "python/index"]
    pages = {
        "reference/index.md": INDEX + toctree(below),
        "reference/presets/index.md": _presets_index(presets),
        "reference/policies.md": _policies_page(),
        "reference/commands.md": _commands_page(),
    }
    pages |= {f"reference/presets/{preset.name}.md": _preset_page(preset) for preset in presets}
    pages |= {f"reference/python/{name}.rst": text for name, text in _python_pages().items()}
    return pages | schema_pages.texts()


# ---- presets and policies ----------------------------------------------------------------------------------


def _preset_page(preset: catalogue.Preset) -> str:
    values = dict(flattened(loads(ninescope.Drive.preset(preset.name).resolve())))
    sources = values.pop("sources", {})
    given = dict(flattened(loads(preset.toml)))
    rows = []
    for key, value in values.items():
        if key != "summary":
            unsaid = "set here, no source named" if key in given else ""
            rows.append((code(key), code(toml(value)), escaped(sources.pop(key, unsaid))))
    rows += [(code(key), "", escaped(source)) for key, source in sources.items()]
    lines = [f"# Preset `{preset.name}`", "", sentence(preset.summary), "", PRESET]
    return "\n".join([*lines, *table(("key", "value", "source"), rows)])


def _presets_index(presets: list[catalogue.Preset]) -> str:
    said = 'Drives that come with ninescope: `--drive NAME`, or `base = "NAME"` in a file.'
    rows = ((f"[`{preset.name}`]({preset.name}.md)", escaped(preset.summary)) for preset in presets)
    lines = ["# Presets", "", said, "", *table(("preset", "what it is"), rows)]
    return "\n".join(lines) + toctree(preset.name for preset in presets)


def _policies_page() -> str:
    lines = ["# Policies", "", "What a drive can name, as `ninescope policies` lists it.", ""]
    for registry, policies in catalogue.policies().items():
        rows = [row for policy in policies for row in _policy_rows(policy)]
        lines += [
            f"## `{registry}`",
            "",
            *table(("policy", "parameter", "value", "default", "meaning"), rows),
        ]
    return "\n".join(lines)


def _policy_rows(policy: catalogue.Policy) -> Iterator[tuple[str, ...]]:
    yield code(policy.name), "", "", "", escaped(policy.summary)
    for each in policy.parameters:
        values = escaped(f"{each.values} [{each.unit}]" if each.unit else each.values)
        default = "" if each.default is None else toml(each.default)
        yield "", code(each.name), values, code(default), escaped(each.summary)


# ---- the command line --------------------------------------------------------------------------------------


def _commands_page() -> str:
    import typer

    from ninescope.cli import command_line

    said = "What `--help` says of each. [Usage](../usage.md) says what is behind it."
    lines = ["# Commands", "", said, ""]
    for path, command in commands(typer.main.get_command(command_line()), "ninescope"):
        lines += [f"## `{path}`", "", escaped(_prose(command.help or "")), ""]
        rows = [_option(parameter) for parameter in command.params]
        lines += table(("argument or option", "default", "meaning"), rows) if rows else []
    return "\n".join(lines)


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield a command and those within it, by what is typed."""
    inner = getattr(command, "commands", {})
    if not inner:
        yield path, command
    for name, each in inner.items():
        yield from commands(each, f"{path} {name}")


def _option(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "option":
        value = f" {parameter.metavar}" if parameter.metavar else ""
        names = [name + value for name in (*parameter.opts, *parameter.secondary_opts)]
    else:
        names = [parameter.metavar or parameter.name.upper()]
    default = parameter.default
    said = "" if default in (None, False, (), [], "") or callable(default) else str(default)
    shown = " ".join(code(name) for name in names)
    return shown, code(said), escaped(_prose(getattr(parameter, "help", "") or ""))


def _prose(text: str) -> str:
    return " ".join(text.replace("\b", "").split())


# ---- Python ------------------------------------------------------------------------------------------------

MODULES = {
    "ninescope.result": "What a run measured, section by section: what `ninescope.Result` leads to.",
    "ninescope.extension": "Policies of one's own, in Python.",
    "ninescope.lab.compare": "Results compared.",
    "ninescope.lab.levers": "Which change of a drive would help.",
    "ninescope.lab.calibrate": "Drives fitted to published figures.",
    "ninescope.lab.statistics": "The statistics behind intervals and verdicts, on plain numbers.",
}
"""Modules that the pages use beside what `ninescope` itself offers."""


def _python_pages() -> dict[str, str]:
    names = sorted(ninescope.__all__)
    pages = {"index": _python_index(names)}
    for name in names:
        pages[name.lower()] = _directive(f"ninescope.{name}", getattr(ninescope, name), name)
    for module in MODULES:
        pages[_page_of(module)] = _module_page(module)
    return pages


def _page_of(module: str) -> str:
    return "module-" + module.removeprefix("ninescope.").replace(".", "-")


def _directive(path: str, of: Any, title: str) -> str:
    kind = "autoexception" if isinstance(of, type) and issubclass(of, Exception) else None
    kind = kind or ("autoclass" if isinstance(of, type) else "autofunction")
    return f"{title}\n{'=' * len(title)}\n\n.. {kind}:: {path}\n"


def _module_page(module: str) -> str:
    loaded = importlib.import_module(module)
    names = sorted(getattr(loaded, "__all__", ()))
    lines = [module, "=" * len(module), "", MODULES[module], ""]
    for name in names:
        of = getattr(loaded, name)
        if name not in ninescope.__all__ and str(getattr(of, "__module__", "")).startswith("ninescope."):
            kind = "autoclass" if isinstance(of, type) else "autofunction"
            lines += [f".. {kind}:: {module}.{name}", ""]
    return "\n".join(lines)


def _python_index(names: Iterable[str]) -> str:
    lines = ["The Python package", "==================", ""]
    lines += [
        "What ``import ninescope`` offers, from its docstrings. :doc:`/python` shows how it is used.",
        "",
    ]
    lines += [".. toctree::", "   :maxdepth: 1", "", *(f"   {name.lower()}" for name in names)]
    return "\n".join([*lines, *(f"   {_page_of(module)}" for module in MODULES), ""])
