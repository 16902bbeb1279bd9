"""Where a figure comes from: the commit of the code that measured it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import slopes_envs


def commit() -> str | None:
    """The commit that the library runs from, with ``-dirty`` behind it when tracked files were changed.

    None where the library is installed rather than run from its own git checkout, or without git.
    """
    package = Path(slopes_envs.__file__).parent
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None  # a checkout may well hold an environment with the library in it, and is then not its source
    return _git(package, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    """What a git command prints, or None if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # only looking: leave the index alone
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
