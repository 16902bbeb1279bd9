"""Game records: written while matches are played, read, verified, and shown.

A record is one match as a JSON object; a file holds one a line (``.jsonl``, or ``.jsonl.gz``).  It tells all that is
needed to check the match without this library: the options, every card dealt, every move, every score.

========== =============================================================================================
key        value
========== =============================================================================================
format     ``"slopes-record/1"``
game       name of the game
rules      every option that bears on the play
seed       match seed, or null where the deals did not come from one; readers do not check it
players    labels, seat by seat, or null
hands      objects with ``dealer`` or ``first_player``, ``deal``, ``moves`` and ``scores``
scores     at the end, seat by seat
end        ``"terminated"``, ``"truncated"`` or ``"unfinished"``
========== =============================================================================================

A move is ``{"seat": 0, "action": "bid 3", "legal": […]}``; the legal actions, in the order of their numbers, may be
left out.  The ``scores`` of a hand are the changes it brought.  In an unfinished record the hand that is still open
has null for its scores, and the final scores are those at the start of that hand.

What a game's deals look like and how chance comes into them is known to the game alone: ``deal_object``,
``extend_deal``, ``parse_deal`` and ``unused_deal`` of :class:`slopes_envs.Game`.

Shape letters: **B** matches played side by side, **P** seats, **A** actions.
"""

from .form import BATCH, FORMAT, Record, RecordError
from .reading import MAX_LINE
from .showing import show
from .verifying import Summary, Verified, read_records, verify_file, verify_lines, verify_records
from .writing import Policy, Recorder, record_lines, record_matches, write_lines, write_records

__all__ = [
    "BATCH",
    "FORMAT",
    "MAX_LINE",
    "Policy",
    "Record",
    "RecordError",
    "Recorder",
    "Summary",
    "Verified",
    "read_records",
    "record_lines",
    "record_matches",
    "show",
    "verify_file",
    "verify_lines",
    "verify_records",
    "write_lines",
    "write_records",
]
