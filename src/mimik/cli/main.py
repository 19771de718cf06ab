"""The command `mimik`: one file a command, loaded when it is named."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mimik import __version__
from mimik.errors import INTERRUPTED, MimikError, OptionError, one_of

COMMANDS = (
    "demo", "info", "convert", "solve", "pose", "view", "render", "studio", "live", "limits", "data", "train", "bench",
)  # fmt: skip
"""Commands in the order of the help; each is the file of its name in this folder, where there is one."""


class LazyGroup(TyperGroup):
    """The top of the command tree: a command's file is imported only when its help or the command itself is wanted.

    A file holds `app`, a Typer application: with one unnamed command it is that command, otherwise a group.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands that are there."""
        return [name for name in COMMANDS if importlib.util.find_spec(f"mimik.cli.{name}") is not None]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        app = importlib.import_module(f"mimik.cli.{cmd_name}").app
        only = [command.name for command in app.registered_commands]
        command = typer.main.get_command(app) if only == [None] else typer.main.get_group(app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command the arguments name; raises OptionError that suggests the nearest."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise OptionError(one_of("command", args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C ends it with one word and the usual code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("\nstopped", err=True)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Human-body inverse kinematics: read, look at, convert and solve human motion on any rig.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mimik {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Human-body inverse kinematics: read, look at, convert and solve human motion on any rig."""


def main() -> None:
    """Run the command line. A MimikError becomes one red line and exit code 1; anything else that escapes is a bug."""
    try:
        app(prog_name="mimik")
    except MimikError as error:
        from mimik.cli.output import error_console

        error_console().print(f"[bold red]error[/]  {_plain(str(error))}")
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(" ".join(text.split()))
