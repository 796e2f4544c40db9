"""Ticks for schemathesis: NDJSON with one usable line at least, among others that are wrong in many ways."""

import json

import schemathesis
from hypothesis import strategies as st

NDJSON = "application/x-ndjson"

names = st.from_regex(r"[A-Za-z0-9._:-]{1,128}", fullmatch=True)
times = st.integers(0, 253_402_300_799) | st.floats(0, 253_402_300_799, allow_nan=False)
scores = st.none() | st.integers(0, 999)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
games = st.fixed_dictionaries(
    {"t": times, "type": st.just("game"), "game": names, "sport": st.sampled_from(["hockey", "soccer", "chess"]),
     "home": st.just("A"), "away": st.just("B")},
    optional={"startsAt": times, "league": st.just("NHL"), "detail": anything, "unknown": anything},
)
changes = st.fixed_dictionaries(
    {"t": times, "type": st.just("score"), "game": names | st.just("nba-1")},
    optional={"home": scores, "away": scores, "period": st.integers(1, 9), "clock": st.just("12:00"),
              "phase": st.sampled_from(["pre", "live", "break", "final"]), "version": st.integers(0, 99),
              "correction": st.booleans(), "unknown": anything},
)
text = st.one_of(games, changes, anything).map(json.dumps)
junk = st.text(max_size=40).map(lambda line: line.replace("\n", ""))


def encoded(lines):
    return "\n".join(lines).encode("utf-8", "surrogatepass")


good = st.builds(
    lambda others, line, place: encoded(others[:place] + [line] + others[place:]),
    st.lists(text | junk, max_size=12), games.map(json.dumps), st.integers(0, 12),
)
schemathesis.openapi.media_type(NDJSON, good)


@schemathesis.serializer(NDJSON)
def as_it_is(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def within(value):
    """JSON has whole numbers of any size, the daemon those of 64 bits: it says 400 to others, which no schema can say."""
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return value % 2**63
    if isinstance(value, list):
        return [within(item) for item in value]
    if isinstance(value, dict):
        return {key: within(item) for key, item in value.items()}
    return value


@schemathesis.hook
def map_body(context, body):
    return within(body)
