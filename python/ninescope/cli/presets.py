"""`ninescope presets`: the drives, jobs and profiles that come with ninescope."""

from __future__ import annotations

import typer

from ninescope.cli.common import print_pairs

app = typer.Typer(
    help="List the drives, jobs and profiles that come with ninescope, or show one.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def _presets(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        presets_list()


@app.command("list")
def presets_list() -> None:
    """List the drives, jobs and profiles that come with ninescope."""
    from ninescope.common.catalogue import DEFAULT_PRESET, PRESET_KINDS, presets

    print_pairs(
        [
            (preset.name, preset.summary + (" (the default)" if preset.name == DEFAULT_PRESET else ""))
            for kind in PRESET_KINDS
            for preset in presets(kind)
        ]
    )


@app.command("show")
def presets_show(name: str) -> None:
    """Print one preset as TOML: a start for a file of your own."""
    from ninescope.common.catalogue import preset

    print(preset(name).toml.rstrip("\n"))
