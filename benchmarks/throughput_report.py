"""Results of :mod:`slopes_benchmarks.throughput` for people: tables, a report, a plot, the table of the README."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from .c_reference import LIBRARY
from .keeping import write_bytes, write_json
from .layers import AEC, AEC_RAW, BATCHED, CORE, LAYERS, OBSERVED, SB3, VECTOR
from .markdown import between
from .markdown import table as markdown_table
from .peers import CPP, DEALT, DEALT_OBSERVED, ENV, PYTHON, ROLLOUT
from .terminal import line, table
from .timing import DECISIONS, GAMES, LENGTH, MEMORY

JSON, REPORT, PLOT = "throughput.json", "throughput.md", "throughput.png"
README_BEGIN, README_END = "<!-- speeds: begin -->", "<!-- speeds: end -->"

LAYER_TITLES = {
    CORE: "core",
    OBSERVED: "core with observation and mask",
    VECTOR: "Gymnasium VectorEnv",
    SB3: "Stable-Baselines3 VecEnv",
    AEC_RAW: "PettingZoo raw_env",
    AEC: "PettingZoo env",
}
OURSELVES = "slopes_envs"
"""What our own layers are called where others are compared with them."""

PEER_TITLES = {
    ("open_spiel", PYTHON): "OpenSpiel from Python, deals included",
    ("open_spiel", DEALT): "OpenSpiel from Python, after the deal",
    ("open_spiel", OBSERVED): "OpenSpiel from Python, with observation and mask, deals included",
    ("open_spiel", DEALT_OBSERVED): "OpenSpiel from Python, with observation and mask, after the deal",
    ("open_spiel", CPP): "OpenSpiel inside C++, deals included",
    ("open_spiel", ROLLOUT): "OpenSpiel inside C++, after the deal",
    ("rlcard", ENV): "RLCard",
    ("pettingzoo", AEC_RAW): "PettingZoo Classic, raw_env",
    ("pettingzoo", AEC): "PettingZoo Classic, env",
    ("pgx", OBSERVED): "Pgx on the CPU, compiled, with observation and mask",
    (LIBRARY, CORE): "C, one game at a time",
    (LIBRARY, OBSERVED): "C, one game at a time, with observation and mask",
    (OURSELVES, OBSERVED): "the core with observation and mask",
}
SCALES = ((1e6, "M"), (1e3, "k"), (1.0, ""))
NOT_MEASURED = "-"
MARKERS = "osD^vPX*"  # one a number of players
NANOSECONDS = 1e9

Row = dict[str, Any]
Result = dict[str, Any]


class TextTable(NamedTuple):
    """A table, for the terminal and for Markdown."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


# ---------------------------------------------------------------------------------------------------------- values


def shown_number(value: float) -> str:
    """Three significant digits: ``3.21 M``, ``45.6 k``, ``789``."""
    for scale, letter in SCALES:
        if value >= scale:
            return f"{_digits(value / scale)} {letter}".strip()
    return _digits(value)


def shown_spread(row: Row) -> str:
    """Median, and the least and the greatest run in brackets: ``3.21 M (3.10..3.30)``."""
    scale, letter = next((pair for pair in SCALES if row["median"] >= pair[0]), (1.0, ""))
    median, low, high = (_digits(row[name] / scale) for name in ("median", "low", "high"))
    return f"{median} {letter} ({low}..{high})".replace("  ", " ")


def _digits(value: float) -> str:
    """Three significant digits, but all of those before the point and no more than three behind it."""
    decimals = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{decimals}f}"


def _title(game: str) -> str:
    return game.replace("_", " ").title()


class _Rows:
    """The rows of a result, to be looked up."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.batches: list[int] = sorted(result["settings"]["batches"])
        self.scaling_batch: int = result["settings"]["scaling_batch"]
        self._by_key = {
            (*_table_key(row), row["layer"], row["batch"], row["unit"]): row for row in reversed(result["rows"])
        }
        own = [row for row in result["rows"] if "/" not in row["game"]]
        self.tables = sorted({_table_key(row) for row in own}, key=[_table_key(row) for row in own].index)
        """Games with their numbers of players, in the order measured."""
        self.usual = [key for key in self.tables if any(self.measured(key, layer) for layer in LAYERS if layer != CORE)]
        """Those that were measured in more than the core (or all, if only that was measured)."""
        self.usual = self.usual or self.tables

    def find(self, key: tuple[str, int], layer: str, batch: int, unit: str = DECISIONS) -> Row | None:
        return self._by_key.get((*key, layer, batch, unit))

    def measured(self, key: tuple[str, int], layer: str) -> bool:
        return any(self.find(key, layer, batch) for batch in [1, *self.batches])

    def at_scale(self, key: tuple[str, int], layer: str, unit: str = DECISIONS) -> Row | None:
        """The row of a layer: of PettingZoo's, which are of one game, or else at the scaling batch."""
        return self.find(key, layer, self.scaling_batch if layer in BATCHED else 1, unit)

    def length(self, key: tuple[str, int]) -> Row:
        return next(row for row in self.result["rows"] if _table_key(row) == key and row["unit"] == LENGTH)


def _table_key(row: Row) -> tuple[str, int]:
    return row["game"], row["rules"].get("num_players", 0)


def _cell(row: Row | None, shown: Callable[[Row], str]) -> str:
    return NOT_MEASURED if row is None else shown(row)


def _names(key: tuple[str, int]) -> list[str]:
    return [_title(key[0]), str(key[1])]


# ---------------------------------------------------------------------------------------------------------- tables


def tables(result: Result) -> list[TextTable]:
    """Everything that was found, as tables."""
    rows = _Rows(result)
    made = [_overview(rows)]
    made += [_by_batch(rows, layer) for layer in BATCHED if any(rows.measured(key, layer) for key in rows.usual)]
    made += [_time_by_batch(rows, layer) for layer in (CORE, OBSERVED) if layer in result["settings"]["layers"]]
    made += [_memory(rows), _players(rows), _workers(result), _peers(result)]
    made += _ratios(result)
    return [one for one in made if one.rows]


def _overview(rows: _Rows) -> TextTable:
    layers = [layer for layer in LAYERS if any(rows.measured(key, layer) for key in rows.tables)]
    body = []
    for key in rows.usual:
        cells = [_cell(rows.at_scale(key, layer), shown_spread) for layer in layers]
        matches = _cell(rows.at_scale(key, CORE, GAMES), lambda row: shown_number(row["median"]))
        body.append([*_names(key), *cells, matches, shown_number(rows.length(key)["median"])])
    columns = ["game", "players", *[LAYER_TITLES[layer] for layer in layers], "core, games/s", "decisions a game"]
    note = "Median of the runs, in brackets the least and the greatest. A game is a whole match; PettingZoo plays one."
    return TextTable(f"Decisions a second, B = {rows.scaling_batch}", columns, body, note)


def _by_batch(rows: _Rows, layer: str) -> TextTable:
    body = [
        [*_names(key), *[_cell(rows.find(key, layer, batch), shown_spread) for batch in rows.batches]]
        for key in rows.usual
    ]
    columns = ["game", "players", *[f"B = {batch}" for batch in rows.batches]]
    return TextTable(f"Decisions a second by batch: {LAYER_TITLES[layer]}", columns, body)


def _time_by_batch(rows: _Rows, layer: str) -> TextTable:
    def nanoseconds(row: Row) -> str:
        return _digits(NANOSECONDS / row["median"])

    body = []
    for key in rows.usual:
        found = [rows.find(key, layer, batch) for batch in rows.batches]
        body.append([*_names(key), *[_cell(row, nanoseconds) for row in found]])
    columns = ["game", "players", *[f"B = {batch}" for batch in rows.batches]]
    note = "Where this does not rise from left to right, nothing grows faster than linearly in B."
    return TextTable(f"Nanoseconds a decision by batch: {LAYER_TITLES[layer]}", columns, body, note)


def _memory(rows: _Rows) -> TextTable:
    body = []
    for key in rows.usual:
        for layer, what in ((CORE, "state"), (OBSERVED, "peak of a step")):
            found = [rows.find(key, layer, batch, MEMORY) for batch in rows.batches]
            if any(found):
                body.append([*_names(key), what, *[_cell(row, lambda row: f"{row['median']:,.0f}") for row in found]])
    columns = ["game", "players", "what", *[f"B = {batch}" for batch in rows.batches]]
    note = "The peak is that of a step with observation and mask: state, buffers, and all that is made in between."
    return TextTable("Bytes a game by batch", columns, body, note)


def _players(rows: _Rows) -> TextTable:
    body = []
    for game in dict.fromkeys(game for game, _ in rows.tables):
        counts = sorted(players for name, players in rows.tables if name == game)
        found = {players: row for players in counts if (row := rows.at_scale((game, players), CORE))}
        if len(found) < 2:
            continue
        fewest = min(found)
        for players, row in found.items():
            slowdown = found[fewest]["median"] / row["median"]
            body.append(
                [
                    *_names((game, players)),
                    _digits(NANOSECONDS / row["median"]),
                    f"{slowdown:.2f}",
                    f"{players / fewest:.2f}",
                ]
            )
    columns = ["game", "players", "ns a decision", "relative", "players, relative"]
    note = "Where `relative` is at most `players, relative`, nothing grows faster than linearly in the players."
    return TextTable(f"Cost against players: core, B = {rows.scaling_batch}", columns, body, note)


def _workers(result: Result) -> TextTable:
    body = [
        [*_names(_table_key(row)), str(row["workers"]), f"{row['median']:.2f} ({row['low']:.2f}..{row['high']:.2f})"]
        for row in result["workers"]
    ]
    columns = ["game", "players", "processes", "times as fast as one"]
    return TextTable("Several processes at once, each on its own core", columns, body)


def _peers(result: Result) -> TextTable:
    body = []
    for row in result["rows"]:
        if "/" in row["game"]:
            options = " ".join(f"{name}={value}" for name, value in row["rules"].items())
            body.append([f"{row['game']} {options}".strip(), row["layer"], str(row["batch"]), shown_spread(row)])
    note = "What each layer does is told in `benchmarks/peers.py` and `benchmarks/c_reference.py`."
    return TextTable("Other libraries and C", ["peer", "layer", "B", "decisions/s"], body, note)


def _ratios(result: Result) -> list[TextTable]:
    """For each of our layers, and each layer of a library that it is compared with, one table."""
    note = "Median over the rounds of the ratio in each, in brackets the least and the greatest; above 1 we are faster."
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in result["ratios"]:
        groups.setdefault((row["layer"], row["peer"].partition("/")[0], row["peer_layer"]), []).append(row)
    made: list[TextTable] = []
    for (layer, library, peer_layer), found in groups.items():
        peers = list(dict.fromkeys(row["peer"] for row in found))
        cells = {(_table_key(row), row["peer"]): row for row in found}
        body = [
            [*_names(key), *[_cell(cells.get((key, peer)), shown_spread) for peer in peers]]
            for key in dict.fromkeys(map(_table_key, found))
        ]
        columns = ["game", "players", *[peer.partition("/")[2] or peer for peer in peers]]
        title = f"{LAYER_TITLES[layer]}: times as fast as {PEER_TITLES[library, peer_layer]}"
        made.append(TextTable(title, columns, body, "" if made else note))
    return made


# ---------------------------------------------------------------------------------------------------------- output


def provenance(result: Result) -> list[str]:
    """Where the figures come from, in sentences."""
    machine, settings = result["machine"], result["settings"]
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    load = machine["load"]
    return [
        f"One core of {machine['processor']} ({machine['cores']} cores, {machine['system']}); {versions}.",
        f"Commit {result['commit'] or 'unknown'}; {settings['runs']} runs of {settings['seconds']:g} s each, taken in "
        f"turns; seed {settings['seed']}; busy processes {load['before']} before and {load['after']} after.",
        f"Calibration: {shown_spread(result['calibration'])} {result['calibration']['unit']}.",
    ]


def show(console: Console, result: Result) -> None:
    """Print everything."""
    for one in tables(result):
        table(console, one.title, one.columns, one.rows)
        line(console, "")
    for text in [*provenance(result), *_missing(result)]:
        line(console, text)


def _missing(result: Result) -> list[str]:
    return [f"{what}: {reason}" for what, reason in result["missing"].items()]


def markdown(result: Result) -> str:
    """The report."""
    parts = ["# Throughput", "\n".join(provenance(result)), f"```console\n$ {result['command']}\n```"]
    parts.append(
        "Uniformly random legal play of whole matches (unless an option says otherwise), the action check on, finished "
        "matches restarted, every game of a batch a random number of moves ahead."
    )
    parts.append(f"![Decisions a second by batch]({PLOT})")
    for one in tables(result):
        parts += [f"## {one.title}", markdown_table(one.columns, one.rows), *([one.note] if one.note else [])]
    if result["missing"]:
        parts += ["## Not measured", "\n".join(f"- {text}" for text in _missing(result))]
    return "\n\n".join(parts) + "\n"


def plot(result: Result) -> bytes:
    """Draw decisions a second against the batch, both on logarithmic axes, as a PNG; peers are bands."""
    import matplotlib as mpl

    mpl.use("Agg")  # pictures go to files
    from matplotlib import pyplot as plt

    rows = _Rows(result)
    layers = [layer for layer in BATCHED if any(rows.measured(key, layer) for key in rows.usual)]
    across = min(2, len(layers))
    down = -(-len(layers) // max(across, 1))
    figure, grid = plt.subplots(
        down,
        max(across, 1),
        figsize=(5 * across + 2.5, 4 * down),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    panels = list(grid.flat)
    for panel, layer in zip(panels, layers, strict=False):
        _draw_layer(panel, rows, layer)
    for panel in panels[len(layers) :]:
        panel.set_axis_off()
    for panel in grid[-1]:
        panel.set_xlabel("games at once (B)")
    for panel in grid[:, 0]:
        panel.set_ylabel("decisions a second, one core")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", title="game, players")
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    plt.close(figure)
    return picture.getvalue()


def _draw_layer(panel: Any, rows: _Rows, layer: str) -> None:
    """One panel of the plot."""
    games = list(dict.fromkeys(game for game, _ in rows.usual))
    for key in rows.usual:
        found = [row for batch in rows.batches if (row := rows.find(key, layer, batch))]
        nth = [players for game, players in rows.usual if game == key[0]].index(key[1])
        panel.plot(
            [row["batch"] for row in found],
            [row["median"] for row in found],
            color=f"C{games.index(key[0])}",
            marker=MARKERS[nth % len(MARKERS)],
            markersize=4,
            label=", ".join(_names(key)),
        )
    ratios = [row for row in rows.result["ratios"] if row["layer"] == layer and row["peer"] != OURSELVES]
    peers = {(row["peer"], row["peer_layer"]) for row in ratios}
    bands: dict[tuple[str, str], list[float]] = {}
    for row in rows.result["rows"]:
        if row["unit"] == DECISIONS and (row["game"], row["layer"]) in peers:
            bands.setdefault((row["game"].partition("/")[0], row["layer"]), []).append(row["median"])
    for kind, medians in bands.items():
        panel.axhspan(min(medians), max(medians), color="0.5", alpha=0.15, linewidth=0.8, zorder=0)
        place = {"xycoords": panel.get_yaxis_transform(), "va": "bottom", "fontsize": 6, "color": "0.3"}
        panel.annotate(PEER_TITLES[kind], (0.01, min(medians)), **place)
    panel.set(title=LAYER_TITLES[layer], xscale="log", yscale="log")
    panel.grid(alpha=0.3)


def prepare_report(folder: Path) -> None:
    """Make the folder of a report, before anything is measured: what would fail at the end fails now.

    Raises
    ------
    OSError
        If it cannot be made.
    ModuleNotFoundError
        Without matplotlib.
    """
    import_module("matplotlib")
    folder.mkdir(parents=True, exist_ok=True)


def write_report(result: Result, folder: Path) -> list[Path]:
    """Write JSON, report and plot into a folder, which is made if it is not there; returns the files."""
    prepare_report(folder)
    write_json(folder / JSON, result)
    write_bytes(folder / REPORT, markdown(result).encode())
    write_bytes(folder / PLOT, plot(result))
    return [folder / name for name in (JSON, REPORT, PLOT)]


# ----------------------------------------------------------------------------------------------------------- README


def readme_table(result: Result) -> str:
    """What stands between the two marks in the README."""
    rows = _Rows(result)
    layers = [layer for layer in LAYERS if layer in result["settings"]["layers"]]
    body = []
    for key in rows.usual:
        found = [rows.at_scale(key, layer) for layer in layers]
        body.append([*_names(key), *[_cell(row, shown_spread) for row in found]])
    columns = ["game", "players", *[LAYER_TITLES[layer] for layer in layers]]
    where, how, _ = provenance(result)
    return "\n\n".join(
        [
            f"Decisions a second in uniformly random play, {rows.scaling_batch} games at once (PettingZoo: one); "
            "median of the runs, in brackets the least and the greatest:",
            markdown_table(columns, body),
            f"{where} {how} Measured by `{result['command']}`.",
        ]
    )


def renewed_readme(text: str, result: Result) -> str:
    """The text of a README with its table of speeds renewed.

    Raises
    ------
    ValueError
        If the two marks are not there, once each and in order.
    """
    before, _, after = between(text, README_BEGIN, README_END)
    return f"{before}{README_BEGIN}\n\n{readme_table(result)}\n\n{README_END}{after}"


def renew_readme(readme: Path, result: Result) -> None:
    """Renew the table of speeds in a README; the errors are those of :func:`renewed_readme`."""
    text = renewed_readme(readme.read_text(encoding="utf-8"), result)
    write_bytes(readme, text.encode())
