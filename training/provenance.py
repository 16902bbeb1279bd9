"""Where a run comes from: the commit of the code, and the command."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import slopes_envs

SOURCES = ("py", "yaml", "toml", "slopes")
"""Endings of files that bear on what is measured.  Results, which are tracked too, change while they are written."""


def commit() -> str | None:
    """The commit that the library runs from, with ``-dirty`` behind it when code, weights or settings were changed.

    None where the library is installed rather than run from its own git checkout, or without git.
    """
    package = Path(slopes_envs.__file__).parent
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None  # a checkout may well hold an environment with the library in it, and is then not its source
    head = _git(package, "rev-parse", "HEAD")
    changed = _git(package, "diff", "--name-only", "HEAD", "--", *(f":(top)*.{ending}" for ending in SOURCES))
    return f"{head}-dirty" if head and changed else head


def short_commit(code: str | None) -> str:
    """A commit in so few letters as a reader needs; whether files were changed is told all the same.

    >>> short_commit("0123456789abcdef0123456789abcdef01234567-dirty")
    '0123456789ab-dirty'
    """
    if code is None:
        return "unknown"
    return code[:12] + ("-dirty" if code.endswith("-dirty") else "")


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


def train_command(
    game: str,
    *,
    config: Path | None,
    overrides: Sequence[str],
    rules: Mapping[str, Any],
    minutes: float | None,
    decisions: int | None,
    seed: int,
    out: Path,
) -> str:
    """The ``slopes train`` command of a run."""
    words = ["slopes", "train", game]
    words += [] if config is None else ["--config", str(config)]
    for override in overrides:
        words += ["--set", override]
    for key, value in rules.items():
        text = ",".join(map(_plain, value)) if isinstance(value, list | tuple) else _plain(value)
        words += ["--rule", f"{key}={text}"]
    words += [] if minutes is None else ["--minutes", f"{minutes:g}"]
    words += [] if decisions is None else ["--decisions", str(decisions)]
    return shlex.join([*words, "--seed", str(seed), "--out", str(out)])


def _plain(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
