"""The judges of lesson 08: a relay's own methods are called, and the API behind it is one answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from workbook.base.values import quoted
from workbook.lessons.exercises.model import Observed, Reason
from workbook.lessons.tools import tool
from workbook.play.own_code import exception_words, own_line

ANN, HERS, HIS, NOBODYS = "session-of-ann", "PI-OF-ANN", "PI-OF-BOB", "PI-OF-NOBODY"
# What an error of the API says; no app reads it (REL-9).
API_WORDS: Final = "the credential lacks a role"


@dataclass(frozen=True, slots=True)
class Came:
    """What a call of the relay came to.

    Attributes:
        value: what it returned.
        status: of its refusal; 0 without one.
        sentence: of its refusal.
        error: what it raised that is no refusal, with the learner's line; empty without one.
        calls: how often it called the API.
    """

    value: object = None
    status: int = 0
    sentence: str = ""
    error: str = ""
    calls: int = 0

    @property
    def words(self) -> str:
        """The outcome as a clause."""
        if self.error:
            return f"raised {self.error}"
        return f"refused with {self.status}" if self.status else f"returned {quoted(self.value)}"


def called(kind: Any, call: Callable[[Any], object], answer: tuple[int, bytes] | None = None) -> Came:
    """Call a relay of this class; its API gives `answer` each time, and with None each answer is lost."""
    calls: list[str] = []

    class Played(kind):  # type: ignore[misc]  # the learner's class
        def call(self, method: str, *_more: object, **_named: object) -> tuple[int, bytes]:
            calls.append(method)
            if answer is None:
                raise self.Refused(502, "The card cannot be added now. Try again later.")
            return answer

    try:
        value = call(Played("http://127.0.0.1:9", "key-of-no-api", {ANN: (HERS,), "session-of-bob": (HIS,)}))
    except kind.Refused as refused:
        return Came(status=refused.status, sentence=str(refused.sentence), calls=len(calls))
    except Exception as error:  # noqa: BLE001  # a learner's code may raise anything
        return Came(error=f"{exception_words(error)}. {own_line(error)}".rstrip(" ."), calls=len(calls))
    return Came(value, calls=len(calls))


def body(value: object) -> bytes:
    """A body in JSON, with its letters as they are."""
    return json.dumps(value, ensure_ascii=False).encode()


# Answers that the phone gets: what they are, the body, its sdkInput, and the rule.
USABLE: Final = (
    ("a 200 with an sdkInput", body({"sdkInput": "abc="}), "abc=", "API-9"),
    ("a 200 with a field that nobody knows", body({"sdkInput": "abc=", "new": 1}), "abc=", "API-9"),
    ("an sdkInput with blanks at both ends", body({"sdkInput": "  abc=\n"}), "  abc=\n", "API-7"),
    ("an sdkInput with a letter beyond ASCII", body({"sdkInput": "äbc="}), "äbc=", "API-7"),
)

# Answers that are a failure: what they are, the status, the body, and the rule.
USELESS: Final = (
    ("a 403", 403, body({"title": "Forbidden", "detail": API_WORDS}), "REL-6"),
    ("a 500 with an sdkInput in its body", 500, body({"sdkInput": "abc="}), "REL-6"),
    ("a 200 without sdkInput", 200, b"{}", "REL-6"),
    ("a 200 whose sdkInput is null", 200, body({"sdkInput": None}), "REL-6"),
    ("a 200 whose sdkInput is empty", 200, body({"sdkInput": ""}), "REL-6"),
    ("a 200 whose sdkInput is a number", 200, body({"sdkInput": 7}), "API-9"),
    ("a 200 whose JSON is a list", 200, b"[]", "API-9"),
    ("a 200 whose JSON is null", 200, b"null", "API-9"),
    ("a 200 that is a page for people", 200, b"<h1>Maintenance</h1>", "API-9"),
    ("a 200 that is no UTF-8", 200, b'{"sdkInput": "\xff"}', "API-9"),
)


def only_what_can_be_used(kind: Any) -> Reason | Observed:
    """`sdk_input` of a relay hands on what can be used, unchanged, and refuses everything else with a 502."""
    for what, data, sdk_input, rule in USABLE:
        came = called(kind, lambda relay, data=data: relay.sdk_input((200, data)))  # type: ignore[misc]
        if came.value != sdk_input:
            return Reason(rule, f"for {what}, your relay {came.words}. The phone gets the value as the API gave it.")
    for what, status, data, rule in USELESS:
        came = called(kind, lambda relay, answered=(status, data): relay.sdk_input(answered))  # type: ignore[misc]
        if not came.status:
            return Reason(
                rule, f"for {what}, your relay {came.words}. That is a failure: raise self.Refused(502, ...)."
            )
        if came.status != 502:
            text = f"for {what}, your relay {came.words}. The app reads its status as one of its own: answer 502."
            return Reason("REL-9", text)
        if API_WORDS in came.sentence:
            return Reason(
                "REL-9", f"for {what}, your relay told the app the API's own words. Use one sentence for all."
            )
    return Observed()


def own_cards_and_one_post(kind: Any) -> Reason | Observed:
    """A session reaches its own cards only, and a POST is made once."""
    good = 200, body({"sdkInput": "abc="})

    def provision(session: str, card: str, answer: tuple[int, bytes] | None = good) -> Came:
        return called(kind, lambda relay: relay.provision(session, card, "sdkOutput"), answer)

    return (
        _of_check(provision(ANN, HERS), provision("session-of-nobody", HERS))
        or _of_what_check_returns(called(kind, lambda relay: relay.check(ANN, HIS)))
        or _of_others(provision(ANN, HIS), provision(ANN, NOBODYS))
        or _of_post(provision(ANN, HERS, None), provision(ANN, HERS, (503, b"")), provision(ANN, HERS))
        or Observed()
    )


def _of_check(hers: Came, unknown: Came) -> Reason | None:
    if hers.value != "abc=":
        return Reason(
            "REL-4", f"Ann asked for her own card, and your relay {hers.words}. Her session reaches her cards."
        )
    if not unknown.status or unknown.calls:
        return Reason(
            "REL-4", f"for a session that nobody has, your relay {unknown.words}. Refuse it, and call no API."
        )
    return None


def _of_what_check_returns(his: Came) -> Reason | None:
    if his.value is not None:
        text = f"for Bob's card, your check {his.words}, and Ann got it. Nobody looks at what check returns: raise."
        return Reason("REL-4", text)
    return None


def _of_others(his: Came, nobodys: Came) -> Reason | None:
    if not his.status or his.calls:
        known = "" if nobodys.status else ", as for a card that does not exist"
        text = (
            f"Ann asked for Bob's card, and your relay {his.words}{known}. Look for it among her session's own cards."
        )
        return Reason("REL-4", text)
    if not nobodys.status or nobodys.calls:
        return Reason(
            "REL-4", f"for a card that does not exist, your relay {nobodys.words}. Refuse it, and call no API."
        )
    if his.status == 401:
        return Reason(
            "REL-9", "Ann asked for Bob's card, and your relay told her to sign in again. Her session is right."
        )
    if his.status != nobodys.status:
        text = (
            f"your relay refused Bob's card with {his.status} and one that does not exist with {nobodys.status}. "
            "So Ann learns which cards exist: give both the same answer."
        )
        return Reason("REL-4", text)
    return None


def _of_post(lost: Came, busy: Came, good: Came) -> Reason | None:
    for what, came in (("its answer was lost", lost), ("the API answered 503", busy), ("all went well", good)):
        if came.calls != 1:
            text = (
                f"your relay made the POST {came.calls} times when {what}. "
                "Make it once: the next tap has a new sdkOutput."
            )
            return Reason("REL-1", text)
    for what, came in (("the POST's answer was lost", lost), ("the API answered 503", busy)):
        if not came.status:
            return Reason("REL-6", f"{what}, and your relay {came.words}. The app takes that for a success: refuse.")
    return None


@cache
def redirect_followed() -> Observed:
    """A case of `conform` with a relay that follows redirects: who got what."""

    class Follows(tool("Relay")):  # type: ignore[misc]
        def client(self) -> Any:
            client = super().client()
            client.follow_redirects = True
            return client

    case = "relay.post.redirect-not-followed"
    result = tool("conform")(Follows, case)
    exchanges = result.record.cases[0].exchanges
    (elsewhere,) = (exchange for exchange in exchanges if exchange.elsewhere)
    phone = next(exchange.status for exchange in exchanges if exchange.side == "phone" and exchange.method == "POST")
    names = {name.lower() for name, _value in elsewhere.request.headers}
    return Observed(
        result.case(case),
        phone=phone,
        key="x-api-key" in names,
        sdk_output="sdkOutput" in (elsewhere.request.body or {}),
        verdict=result.verdict(case),
    )
