"""Strategies for Hypothesis: records of a trace that hold anything at all, hostile text included."""

import inspect
from dataclasses import fields

from hypothesis import strategies as st

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.rules import Basis
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record

CLASSES = sorted(
    (
        one
        for one in vars(m).values()
        if inspect.isclass(one)
        and issubclass(one, m.Message)
        and one not in (m.Message, m.Event, m.Command, m.Aside, m.StartBudget)
    ),
    key=lambda one: one.__name__,
)
HOSTILE = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "]]>",
        "'\"><img onerror=x>",
        "\x00\x1b[31m",
        "\u202eevil",
        "\ud800",
        "a\u0301" * 50,
        "\u5361" * 99,
    ]
)
TEXTS = st.one_of(HOSTILE, st.text(max_size=40))
OPAQUES = st.one_of(
    st.builds(SdkInput, st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)),
    st.builds(SdkOutput, st.just("eyJzaW11bGF0ZWQiOiJub3QgY2FyZCBkYXRhIn0=")),
    st.builds(SdkInput, st.just("eyJzaW11bGF0ZWQiOg")),
)
VALUES = st.one_of(
    TEXTS, OPAQUES, st.none(), st.integers(), st.floats(), st.binary(max_size=9), st.lists(TEXTS, max_size=2)
)
MESSAGES = st.sampled_from(CLASSES).flatmap(lambda one: st.builds(one, **{field.name: VALUES for field in fields(one)}))
RECORDS = st.builds(
    Record,
    st.floats(0, 1e9) | st.sampled_from([1e300, float("nan"), float("inf")]),
    st.sampled_from(Kind),
    MESSAGES,
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=4).map(tuple),
    st.integers(0, 3),
    st.booleans(),
    source=st.sampled_from([*Basis]),
)
