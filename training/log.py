"""The log of a run as one CSV file, a line for every update."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter

from slopes_envs.files import write_bytes

STEP = "decisions"


class CsvLog(KVWriter):
    """Appends lines to a CSV file.

    A resumed run keeps the lines up to where it goes on from.  When a new quantity appears the file is written anew
    with one column more, beside first and then renamed.
    """

    def __init__(self, path: Path, keep_until: int) -> None:
        self.path = path
        self.columns = [STEP]
        self.rows: list[dict[str, Any]] = []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as stream:
                reader = csv.DictReader(stream)
                self.columns = list(reader.fieldnames or [STEP])
                self.rows = [row for row in reader if int(row[STEP]) <= keep_until]
        self._rewrite()

    def _rewrite(self) -> None:
        lines = [self.columns, *([row.get(name, "") for name in self.columns] for row in self.rows)]
        text = "".join(_line(cells) for cells in lines)
        write_bytes(self.path, text.encode())

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Write one line."""
        row = {STEP: step} | {name: value for name, value in key_values.items() if isinstance(value, int | float)}
        self.rows.append(row)
        new = [name for name in row if name not in self.columns]
        if new:
            self.columns += new
            self._rewrite()
            return
        with self.path.open("a", newline="", encoding="utf-8") as stream:
            stream.write(_line([row.get(name, "") for name in self.columns]))

    def close(self) -> None:
        """Nothing to release."""


def _line(cells: list[Any]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()
