"""Screens to draw: every state that is named anywhere, and any other that can be made."""

from dataclasses import replace
from itertools import product

from hypothesis import strategies as st

from workbook.views.screen import InFront, Page, Screen, Sheet

IDS = tuple(f"PISIMULATED{number:014}" for number in range(1, 7))
FIRST, SECOND, THIRD = IDS[:3]
LABELS = ("", "Added to Wallet", "Available in Wallet", "Not added")
BUTTONS = ("absent", "shown", "disabled", "hidden")
APP = Screen(place=InFront.APP, card=FIRST)
WALLET = Screen(place=InFront.WALLET, card=SECOND, entries=IDS[:3])
WATCHES = (None, frozenset(), frozenset({FIRST}), frozenset(IDS))

NAMED = (
    Screen(),
    *(replace(APP, button=button, label=label, waits=waits) for button, label, waits in
      product(BUTTONS, LABELS, (False, True))),
    *(replace(APP, button="disabled", sheet=sheet) for sheet in Sheet if sheet),
    *(replace(WALLET, page=page, surface=surface) for page, surface in product(Page, ("phone", "watch"))),
    *(replace(WALLET, page=Page.CARDS, entries=IDS * times) for times in (0, 1, 2, 9)),
    *(replace(APP, button="shown", on_watch=held) for held in WATCHES),
)  # fmt: skip
"""Every state by itself."""

CARDS = (
    st.sampled_from(IDS) | st.text(max_size=30) | st.sampled_from(["<b>&", "\u202eevil", "\x00", "\ud800", "卡" * 9])
)
SOME = st.frozensets(CARDS, max_size=4)
ANY = st.builds(
    Screen,
    place=st.sampled_from(InFront),
    card=CARDS,
    button=st.sampled_from(BUTTONS),
    label=st.sampled_from(LABELS) | st.text(max_size=60),
    waits=st.booleans(),
    sheet=st.sampled_from(Sheet),
    page=st.sampled_from(Page),
    entries=st.lists(CARDS, max_size=20).map(tuple),
    on_phone=SOME,
    on_watch=st.none() | SOME,
    surface=st.sampled_from(["phone", "watch"]),
)
"""Every combination."""
