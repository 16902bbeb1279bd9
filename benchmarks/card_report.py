"""Model cards of the policies that ship, and the README's table of them, made from what is stored."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from slopes_agents.advice import AFTERSTATES, REASONS
from slopes_envs import game_names, make_game
from slopes_training.provenance import short_commit

from .card_rows import (
    AGAINST,
    BETS,
    LOW_FEE,
    ONE_OTHER,
    OTHER,
    PARTNER,
    PARTNERS,
    SEARCH,
    SELF,
    USUAL_OPPONENT,
    Stored,
    read_stored,
)
from .league_report import unit, with_interval
from .markdown import between, table

BEGIN, END = "<!-- policies: begin -->", "<!-- policies: end -->"
FOLDER = Path("benchmarks") / "results" / "policies"
WEIGHTS = Path("agents") / "weights"
LIMITS = "limits.toml"

METRICS: dict[str, tuple[str, bool]] = {
    "bid_made": ("bids made", True),
    "bid": ("bid", False),
    "tricks": ("tricks", False),
    "team_bid_made": ("team bids made", True),
    "sluff_made": ("sluffs made", True),
    "sluff_bid": ("sluffs bid", True),
    "seconds_won": ("suits won a hand", False),
    "floor": ("hands lifted to five", True),
    "win": ("won", True),
    "turns": ("turns a match", False),
    "chips_betting": ("chips a bank, betting", False),
    "chips_banking": ("chips a bank, banking", False),
    "bet_won": ("bets won", True),
}
"""What metrics are called, and whether they are shares."""

LEFT_OUT = {"slippery_slope": ("tricks",), "slopes": ("win",)}
"""Metrics that a table does not show: those that say what another column does."""

TELLING = {
    "slippery_slope": ("bid_made",),
    "sloppy_seconds": ("seconds_won",),
    "sluff": ("team_bid_made", "sluff_made"),
    "slopes": ("turns",),
}
"""Metrics of self-play that stand in the README."""

NOTES = {
    "sluff": "A sluff that is made brings a team 50 points and one that is broken costs 50: without what its seat "
    "could have bid instead, half of them must be made to break even.",
    "slippery_sam": f"Bets are compared with the exact best decision of the same turn, as `optimal` takes it, whatever "
    f"it is: an amount, a redraw or a pass. A decision is close if its worth is within 0.1 % of the bank of the best "
    f"one's. States are those that the policy comes to when it sits in all seats; forced decisions do not count. With "
    f"`fee={LOW_FEE}` redraws often pay.",
}
"""What must be known to read a game's tables."""


# ------------------------------------------------------------------------------------------------------------- pieces


def read_limits(path: Path, game: str) -> list[str]:
    """What a game's policy does not do well, written by hand: a list of sentences in a TOML file.

    Raises
    ------
    ValueError
        If the file has none for the game.
    """
    found = tomllib.loads(path.read_text(encoding="utf-8")).get(game) if path.exists() else None
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        raise ValueError(f'{path}: expected what the policy does not do well, as in {game} = ["…", "…"]')
    return found


def settings(rules: Mapping[str, Any], *, match: bool = True) -> str:
    """Options in words, as in ``4 players, single hands``."""
    words = [f"{rules['num_players']} players"]
    words += [f"fee {rules['fee']}"] if rules.get("fee", "fifth") != "fifth" else []
    if match:
        words.append({"hand": "single hands", "game": "whole matches"}[rules["match"]])
    return ", ".join(words)


def _who(spec: str, row: Mapping[str, Any], own: str) -> str:
    """What an agent is called in a table."""
    seeds = [name for name in row["weights"] if name != "policy"]
    if spec == own:
        return "the policy"
    if spec.startswith(PARTNERS):
        (partner,) = {member for member in spec.removeprefix(PARTNERS).split("|") if member != own}
        return f"the policy, its partners {_who(partner, row, own)}"
    if seeds and spec.startswith("ppo:"):
        return f"policy of {seeds[0]}"
    return f"`{spec}`"


def _own(stored: Mapping[str, Any]) -> str:
    """The spec of the policy in its rows."""
    spec: str = next(row["line_ups"][0][0] for row in stored["rows"] if row["kind"] == SELF)
    return spec


def _share(figure: Mapping[str, Any] | None, digits: int = 1) -> str:
    """A share with its interval, in percent."""
    if figure is None:
        return "-"
    low, high = figure["ci95"]
    return f"{100 * figure['mean']:.{digits}f} % [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def _metric(name: str, figure: Mapping[str, Any] | None) -> str:
    if METRICS.get(name, ("", False))[1]:
        return _share(figure)
    return "-" if figure is None else with_interval(dict(figure), 2, sign=False)


def _in_deviations(row: Mapping[str, Any]) -> str:
    """The difference in standard deviations of one score."""
    if not row["deviation"]:
        return "-"
    difference = row["difference"]
    scaled = {
        "mean": difference["mean"] / row["deviation"],
        "ci95": [bound / row["deviation"] for bound in difference["ci95"]],
    }
    return with_interval(scaled, 2)


def commits(stored: Mapping[str, Any]) -> str:
    """Versions and commits that played the rows."""
    found = [(row["version"], code) for row in stored["rows"] for code in row["commits"]]
    codes = ", ".join(dict.fromkeys(short_commit(code) for _, code in found))
    return f"version {', '.join(dict.fromkeys(number for number, _ in found))}, commit {codes}"


# ------------------------------------------------------------------------------------------------------------- tables


def _played(rows: Sequence[dict[str, Any]], stored: Mapping[str, Any]) -> str:
    """Rows of one set of options, in which the policy meets others."""
    own, game = _own(stored), stored["game"]
    whole = any("win_share" in row for row in rows)
    usual = {row["deals"] for row in stored["rows"] if row["kind"] == AGAINST}
    names = [name for name in rows[0]["metrics"] if name not in LEFT_OUT.get(game, ())]
    columns = ["player", "all others", f"points a {unit(rows[0])} above them", "in standard deviations"]
    columns += ["matches won"] if whole else []
    columns += [f"{METRICS.get(name, (name, False))[0]}: player / others" for name in names]
    cells = []
    for row in rows:
        agent, against = row["line_ups"][0]
        deals = "" if row["deals"] in usual else f" ({row['deals']:,} deals)"
        cell = [_who(agent, row, own) + deals, _who(against, row, own)]
        cell += [with_interval(row["difference"], 2), _in_deviations(row)]
        cell += [_share(row.get("win_share"))] if whole else []
        for name in names:
            metric = row["metrics"].get(name, {"agent": None, "against": None})
            cell.append(f"{_metric(name, metric['agent'])} / {_metric(name, metric['against'])}")
        cells.append(cell)
    return table(columns, cells, left=2)


def _self_play(rows: Sequence[dict[str, Any]], game: str) -> str:
    names = [name for name in rows[0]["metrics"] if name not in LEFT_OUT.get(game, ())]
    varies = any(len(set(row["agent_score"]["ci95"])) > 1 for row in rows)  # it cannot where scores sum to a constant
    columns = ["options", "deals", *([f"points a {unit(rows[0])}"] if varies else [])]
    columns += [METRICS.get(name, (name, False))[0] for name in names]
    cells = []
    for row in rows:
        cell = [settings(row["rules"]), f"{row['deals']:,}"]
        cell += [with_interval(row["agent_score"], 2, sign=False)] if varies else []
        cells.append(cell + [_metric(name, row["metrics"][name]["agent"]) for name in names])
    return table(columns, cells)


def _bets(rows: Sequence[dict[str, Any]], game: str) -> str:
    columns = ["options", "matches", "decisions", "close to the best", "regret, part of the bank"]
    cells = [
        [
            settings(row["rules"]),
            f"{row['deals']:,}",
            f"{row['bets']:,}",
            _share(row["close"]),
            _share(row["regret"], 3),
        ]
        for row in rows
    ]
    return table(columns, cells)


def _options_of(row: dict[str, Any]) -> str:
    return settings(row["rules"])


def _sections(stored: Mapping[str, Any]) -> list[str]:
    """All tables of a card with their headings."""
    parts = []
    met = [row for row in stored["rows"] if row["kind"] in (AGAINST, OTHER, ONE_OTHER, PARTNER, SEARCH)]
    kinds = [AGAINST, SEARCH, PARTNER, OTHER, ONE_OTHER]
    met.sort(key=lambda row: (row["rules"]["num_players"], _options_of(row), kinds.index(row["kind"])))
    for options, same in groupby(met, key=_options_of):
        parts += [f"### {options[0].upper()}{options[1:]}", _played(list(same), stored)]
    for heading, kind, draw in (
        ("In all seats", SELF, _self_play),
        ("Its bets against the best ones", BETS, _bets),
    ):
        rows = [row for row in stored["rows"] if row["kind"] == kind]
        if rows:
            parts += [f"### {heading}", draw(rows, stored["game"])]
    return parts


# -------------------------------------------------------------------------------------------------------------- cards


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _sees(policy: Mapping[str, Any]) -> str:
    """What the network of a policy sees."""
    network = policy["network"]
    adviser = network.get("advice")
    if adviser == AFTERSTATES:
        return "for each end of the turn that it is shown"
    if adviser == REASONS:
        return "for each legal action, which it sees by what `heuristic` makes of it"
    left_out = ", ".join(network.get("left_out") or []) or "nothing"
    advice = f"; beside them it sees what `{adviser}` would do" if adviser else ""
    return f"of the observation's {policy['features']:,} features it does not see: {left_out}{advice}"


def _decisions(told: Mapping[str, Any]) -> str:
    return f"{told['decisions']:,}" if "decisions" in told else "unknown"


def _hours(told: Mapping[str, Any]) -> str:
    seconds = told.get("trained_seconds")
    return "unknown" if seconds is None else f"{seconds / 3600:.2f} hours, evaluations left out"


def _begun_with(told: Mapping[str, Any]) -> str:
    """Where a network comes from with which a run began, and that with which its own run began."""
    origin = (
        f"the policy of `{told.get('command', 'unknown')}` (decisions: {_decisions(told)}; time: {_hours(told)}; "
        f"commit {short_commit(told.get('commit'))})"
    )
    return f"{origin}, begun with {_begun_with(told['start'])}" if told.get("start") else origin


def _facts(policy: Mapping[str, Any]) -> str:
    """How a policy was trained, as a list."""
    told, network = policy["provenance"], policy["network"]
    begun = told.get("start")
    suits = ", weights shared over the suits" if network.get("suits") else ""
    facts = {
        "command": f"`{told.get('command', 'unknown')}`",
        **({} if begun is None else {"begun with": _begun_with(begun)}),
        "played": "; ".join(settings(rules) for rules in policy["rules"]),
        "seed": str(told["seed"]),
        "decisions": _decisions(told),
        "time": _hours(told) + ("" if begun is None else ", besides those of what it was begun with"),
        "code": f"version {told.get('version', 'unknown')}, commit {short_commit(told.get('commit'))}",
        "rewards": f"{policy.get('reward', 'unknown')}, divided by {policy.get('reward_scale', 1):g}",
        "network": f"hidden layers of {', '.join(map(str, network['layers']))}{suits}; {_sees(policy)}",
        "size": f"{policy['parameters']:,} numbers ({policy['numbers']}), {policy['bytes']:,} bytes",
    }
    return "\n".join(f"- **{name}**: {text}" for name, text in facts.items())


def _speed(timings: Mapping[str, Any]) -> str:
    return (
        f"{_number(timings['decisions_per_second'])} decisions a second with {timings['together']:,} games at once, "
        f"{_number(timings['ms_alone'])} ms for one decision alone, observations included: processor time of one core "
        f"({timings['machine']['processor']}, PyTorch {timings['versions'].get('torch', 'unknown')}, commit "
        f"{short_commit(timings['commit'])})."
    )


ASKS: dict[str | None, str] = {
    None: "",
    AFTERSTATES: (
        ", and asks `heuristic` at every move how the turn can end: the network has learned what that is worth"
    ),
    REASONS: (", and asks `heuristic` at every move what it makes of each action: the network has learned to weigh it"),
}
"""What a policy does at every move besides, by its advice."""


def card(stored: Stored, limits: Sequence[str]) -> str:
    """The card of a policy as a page of Markdown."""
    results, timings = stored
    game, policy = results["game"], results["policy"]
    rules = [row["rules"] for row in results["rows"] if row["kind"] == SELF]
    number = rules[0]["num_players"]
    players = "" if number == make_game(game).num_players else f" --rule num_players={number}"
    commands = dict.fromkeys(row["command"] for row in results["rows"])
    deals = sorted({row["deals"] for row in results["rows"] if row["kind"] == AGAINST})
    seeds = sorted({row["seed"] for row in results["rows"]})
    adviser = policy["network"].get("advice")
    asks = ASKS.get(adviser, f", and asks `{adviser}` at every move: the network has learned where to depart from it")
    parts = [
        f"# {results['title']}: the policy that ships",
        f"`{policy['file']}` holds the numbers of one network and nothing that could run. `training/README.md` "
        f"tells how it is trained; the agent `ppo` takes its likeliest action{asks}.",
        "## How it was made",
        _facts(policy),
        "## How well it plays",
        f"Means with 95 % intervals over deals: {', '.join(f'{each:,}' for each in deals)} duplicate deals a row "
        f"where nothing else is said, seed {', '.join(map(str, seeds))}, none of them played in training. The player "
        "of a row sits in every seat of every deal in turn (in team games it fills either side); all others are of "
        "one kind. Standard deviations are those of one score among the others alone. "
        f"{commits(results)[0].upper()}{commits(results)[1:]}; "
        + "; ".join(f"`{command}`" for command in commands)
        + ". Rows against one opponent are repeated by `slopes evaluate`.",
        *_sections(results),
        NOTES.get(game, ""),
        *(["## Speed", _speed(timings)] if timings.get("digest") == policy["digest"] else []),
        "## What it does not do well",
        "\n".join(f"- {text}" for text in limits),
        "## How to use it",
        "```console\n"
        f"$ slopes evaluate {game} --agent ppo --against {USUAL_OPPONENT} --deals 1000 --seed 1{players}\n"
        f"$ slopes record {game} --agents ppo --matches 3 --seed 1{players} --out matches.jsonl\n"
        "```",
        "```python\n"
        "import numpy as np\n"
        "from slopes_agents import make_agent\n"
        "from slopes_envs import InformationSet, make_game\n"
        "\n"
        f'game = make_game("{game}", num_players={number})\n'
        'agent = make_agent("ppo", game)  # "ppo:mode=sample" draws actions with the chances the network gives\n'
        "state = game.new(np.arange(8, dtype=np.uint64))\n"
        "print(agent.act(InformationSet(game, state)))\n"
        "```",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


# ------------------------------------------------------------------------------------------------------------- README


def stored_policies(folder: Path) -> list[Stored]:
    """What is stored of all policies, in the order of the games."""
    found = [name for name in game_names() if (folder / f"{name}.json").exists()]
    return [read_stored(folder, name) for name in found]


def _row(rows: Iterable[dict[str, Any]], kind: str, rules: Mapping[str, Any], against: str = "") -> dict[str, Any]:
    return next(
        row
        for row in rows
        if row["kind"] == kind and row["rules"] == rules and (not against or row["line_ups"][0][1] == against)
    )


def _result(row: dict[str, Any]) -> str:
    """Matches won where two sides play whole matches, else points."""
    if "win_share" in row and row["rules"]["num_players"] == 2:
        return f"{_share(row['win_share'])} of matches"
    return f"{with_interval(row['difference'], 2)} a {unit(row)}"


def _alone(game: str, rows: Sequence[dict[str, Any]], row: dict[str, Any]) -> str:
    """What is most telling of the policy in all seats."""
    bets = [each for each in rows if each["kind"] == BETS and each["rules"] == row["rules"]]
    if bets:
        return f"{_share(bets[0]['close'])} of bets within 0.1 % of the bank of the best"
    words = []
    for name in TELLING.get(game, tuple(row["metrics"])[:1]):
        label, share = METRICS.get(name, (name, False))
        figure = row["metrics"][name]["agent"]
        words += [] if figure is None else [f"{_metric(name, figure)} {'of ' if share else ''}{label}"]
    return "; ".join(words)


def policies_table(policies: Sequence[Stored], folder: Path) -> str:
    """The README's table, where its figures come from, and the learning curves; nothing where there is no policy."""
    if not policies:
        return ""
    cells, sources, pictures = [], [], []
    for results, _ in policies:
        rows = results["rows"]
        for row in (row for row in rows if row["kind"] == SELF):
            rules = row["rules"]
            cells.append(
                [
                    f"[{results['title']}]({(WEIGHTS / results['game']).as_posix()}.md), "
                    f"{settings(rules, match=False)}",
                    *(_result(_row(rows, AGAINST, rules, other)) for other in (USUAL_OPPONENT, "random")),
                    _alone(results["game"], rows, row),
                ]
            )
        sources += [f"- `{command}` ({commits(results)})" for command in dict.fromkeys(row["command"] for row in rows)]
        picture = folder / f"{results['game']}.png"
        if picture.exists():
            pictures.append(f"![{results['title']}: learning curves]({(FOLDER / picture.name).as_posix()})")
    columns = ["game", f"against `{USUAL_OPPONENT}`", "against `random`", "in all seats"]
    text = "Means with 95 % intervals over deals that were not played in training; measured by:"
    return "\n\n".join([table(columns, cells), text, "\n".join(sources), *pictures])


def renewed(readme: str, policies: Sequence[Stored], folder: Path) -> str:
    """The text of a README with its table of policies renewed.

    Raises
    ------
    ValueError
        If the marks between which the table stands are not there.
    """
    before, _, after = between(readme, BEGIN, END)
    text = policies_table(policies, folder)
    inside = f"\n\n{text}\n\n" if text else "\n"
    return f"{before}{BEGIN}{inside}{END}{after}"
