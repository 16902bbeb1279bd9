"""Every game plays as it did when its playthroughs were written.

If a change of behaviour is meant, ``python tests/playthroughs.py`` writes them anew, and the game's version goes up.
"""

import pytest
from playthroughs import FOLDER, all_playthroughs, path_of, playthrough
from variants import VARIANTS


@pytest.mark.parametrize(("name", "number"), all_playthroughs())
def test_matches_are_played_as_written_down(name: str, number: int) -> None:
    written = path_of(name, number)
    assert written.exists(), "python tests/playthroughs.py writes the missing ones"
    assert playthrough(name, VARIANTS[name][number]) == written.read_text(encoding="utf-8")


def test_no_playthrough_is_left_over() -> None:
    assert {path_of(*which) for which in all_playthroughs()} == set(FOLDER.glob("*.txt"))
