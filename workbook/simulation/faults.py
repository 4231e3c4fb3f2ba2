"""Every fault that the simulated service can play, by name, and the plan that says which request gets which.

A fault acts on the wire (`ON_THE_WIRE`), in the status (`STATUSES`) or in the body (`BODIES`).
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Literal, TypeAlias, get_args

from workbook.base.values import choice, did_you_mean, is_number, is_whole, lookup, quoted
from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation.contract import SPEC, Broken, Problem
from workbook.simulation.http import JSON_HEADERS, Ending, Headers, Method, Response, half
from workbook.simulation.seal import DAMAGES, Content, Genuine, Seal, damaged
from workbook.simulation.world import INSTRUMENT_IDS

Effect: TypeAlias = Callable[[Response, "Chance", Mapping[str, Any]], Response]


# One fault: what it does to an answer, with a name, a sentence, a source, and the few numbers that can be set.
#
# A fault is pure: an answer and a chance go in, the faulted answer comes out. The plan (below) says when it is played,
# and whether the service's state has moved by then.


@dataclass(frozen=True, slots=True)
class Chance:
    """What a fault may draw on besides the answer.

    Attributes:
        draw: a number between 0 and 1, both excluded; the same for the same seed, rule and request.
        seal: makes simulated data that is genuine.
    """

    draw: float
    seal: Seal


@dataclass(frozen=True, slots=True)
class Setting:
    """A value of a fault that can be set.

    Attributes:
        kind: number, choice, text or body.
        default: its value where nothing is set.
        allowed: the allowed values, in words.
        fits: whether a value is allowed.
        limits: what a person chooses from: `least` and `most`, or `known`; empty for a text.
    """

    kind: str
    default: Any
    allowed: str
    fits: Callable[[object], bool] = field(repr=False, compare=False)
    limits: Mapping[str, Any] = field(default_factory=dict, hash=False)


def _number(default: float, least: float, most: float, *, whole: bool = False) -> Setting:
    """A number within a range, ends included; `whole` where only a whole one has a meaning."""
    allowed = f"a {'whole number' if whole else 'number'}, {least:.12g} to {most:.12g}"
    right = is_whole if whole else is_number
    return Setting("number", default, allowed, lambda value: right(value, least, most), {"least": least, "most": most})


def _one_of(default: str | int, known: tuple[str | int, ...]) -> Setting:
    """One of a few values."""
    return Setting(
        "choice",
        default,
        f"one of {', '.join(map(repr, known))}",
        lambda value: any(value == word and type(value) is type(word) for word in known),
        {"known": known},
    )


def _text(kind: str, default: str, allowed: str, pattern: str) -> Setting:
    """Text of this pattern."""
    return Setting(kind, default, allowed, lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value)))


class FaultKind(Enum):
    """What the answer is to the back end that gets it. Others decide by this, not by a fault's name."""

    # No fault.
    NONE = auto()
    # The right answer, only late or slow.
    DELAY = auto()
    # A refusal, a failure or a redirect.
    STATUS = auto()
    # Too many requests: the answer says, or should say, when to try again (RFC 9110).
    LIMIT = auto()
    # No answer, or a part of one.
    LOST = auto()
    # More than one answer: the rest stays in a connection that is kept, and spoils the next answer.
    UNFRAMED = auto()
    # A 200 without an sdkInput that can be read.
    UNUSABLE = auto()
    # A strange body that the document does not forbid.
    ODD = auto()
    # A wrong sdkInput: the data is opaque, so only the SDK can notice.
    OPAQUE = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which an answer goes wrong.

    Attributes:
        name: what a plan, a lesson and an answer's `basis` call it.
        sentence: what it does.
        kind: what the answer is to a back end.
        change: what becomes of the answer.
        source: where the answer is published, or `assumed`; playing it here is always assumed.
        settings: what can be set, by name.
        rising: the settings' values may not fall from one to the next.
        endless: the answer keeps its reader waiting for longer than any back end should wait.
        values: what was set.
    """

    name: str
    sentence: str
    kind: FaultKind
    change: Effect = field(repr=False)
    source: str = "assumed"
    settings: Mapping[str, Setting] = field(default_factory=dict, repr=False, hash=False)
    rising: bool = field(default=False, repr=False)
    endless: bool = field(default=False, repr=False)
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def harmless(self) -> bool:
        """Whether it costs time only.

        The answer is complete, so the request is always carried out, whatever the rule's `moment`: otherwise the
        service would forget what it answered.
        """
        return self.kind in (FaultKind.NONE, FaultKind.DELAY)

    def but(self, **values: Any) -> Fault:
        """The same fault with other values.

        Raises:
            ParameterError: a setting is unknown, or its value is not allowed.
        """
        for name, value in values.items():
            setting = self.settings.get(name)
            if setting is None:
                hint = did_you_mean(name, self.settings) if self.settings else "It has none."
                raise ParameterError(f"The fault {self.name!r} has no setting {quoted(name)}. {hint}")
            if not setting.fits(value):
                sentence = f"{name} of the fault {self.name!r} is {quoted(value)}. Allowed: {setting.allowed}."
                raise ParameterError(sentence)
        changed = replace(self, values={**self.values, **values})
        listed = list(changed.effective.values())
        if self.rising and listed != sorted(listed):
            names = " <= ".join(self.settings)
            raise ParameterError(f"The settings of the fault {self.name!r} contradict each other. Allowed: {names}.")
        return changed

    def played(self, answer: Response, chance: Chance) -> Response:
        """The answer with this fault; one that it cannot touch stays as it is."""
        changed = self.change(answer, chance, self.effective)
        if changed == answer:
            return answer
        return replace(changed, basis=f"{answer.basis}; {self.basis}" if self.harmless else self.basis, fault=self.name)

    @property
    def basis(self) -> str:
        """What a faulted answer rests on."""
        rests = "content: assumed" if self.source == "assumed" else f"code: {self.source}; pairing: assumed"
        return f"fault: {self.name}; {rests}"

    @property
    def effective(self) -> dict[str, Any]:
        """Each setting's value: what was set, or its default."""
        return {name: self.values.get(name, setting.default) for name, setting in self.settings.items()}


def _fault(
    kind: FaultKind,
    name: str,
    sentence: str,
    change: Effect,
    *,
    source: str = "assumed",
    rising: bool = False,
    endless: bool = False,
    **settings: Setting,
) -> Fault:
    return Fault(name, sentence, kind, change, source, settings, rising, endless)


_status = partial(_fault, FaultKind.STATUS)
_delay = partial(_fault, FaultKind.DELAY)
_lost = partial(_fault, FaultKind.LOST)
_unusable = partial(_fault, FaultKind.UNUSABLE)
_odd = partial(_fault, FaultKind.ODD)
_opaque = partial(_fault, FaultKind.OPAQUE)


# Faults in the body: the status is right, and the body is not (all of it assumed).
#
# A body that is spoilt keeps its status, whatever that is. A fault of the sdkInput leaves a refusal as it
# is, because a refusal has none.

# How the body of a success begins.
OPENING = b'{"sdkInput": "'


def _body(make: Callable[[bytes, Mapping[str, Any]], bytes], *headers: tuple[str, str]) -> Effect:
    """The answer with another body, and perhaps with more headers."""

    def change(answer: Response, _chance: Chance, values: Mapping[str, Any]) -> Response:
        return replace(answer, headers=answer.headers + headers, body=make(answer.body, values))

    return change


def _twice(body: bytes, _values: Mapping[str, Any]) -> bytes:
    """The object with its fields twice over, each value the same: a lenient parser notices nothing."""
    inside = body.strip()[1:-1]
    return b"{" + inside + b", " + inside + b"}"


def _pad(size: int) -> bytes:
    """JSON of so many bytes."""
    return OPENING + b"x" * (size - len(OPENING) - len(b'"}')) + b'"}'


@lru_cache(maxsize=4)
def _bomb(size: int) -> bytes:
    """The same JSON, gzipped; it is cached, because making it takes longer than all the rest."""
    return gzip.compress(_pad(size), mtime=0)


def _sdk_input(make: Callable[[str, Chance, Mapping[str, Any]], str]) -> Effect:
    """The answer with another body, made from its sdkInput."""

    def change(answer: Response, chance: Chance, values: Mapping[str, Any]) -> Response:
        if not answer.body.startswith(OPENING):
            return answer
        return replace(answer, body=make(json.loads(answer.body)["sdkInput"], chance, values).encode())

    return change


def _always(body: str) -> Effect:
    return _sdk_input(lambda _text, _chance, _values: body)


def _seal_again(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Effect:
    """A body whose sdkInput is genuine and makes other claims; what the service did not seal stays."""

    def body(text: str, chance: Chance, _values: Mapping[str, Any]) -> str:
        match chance.seal.open(text):
            case Genuine(claims):
                more = claims | change(claims)
                # the seal writes these claims by itself
                _mark, kind, card, serial = map(more.pop, ("simulated", "kind", "paymentInstrumentId", "serial"))
                text = chance.seal.close(Content(kind), card, serial, **more)
        return json.dumps({"sdkInput": text})

    return _sdk_input(body)


def _bytes(default: int) -> Setting:
    """How large a body is, in bytes; those of a bomb are counted unpacked."""
    return _number(default, 100, 256 * 1024 * 1024, whole=True)


# Every fault of the body.
BODIES = (
    _odd(
        "bad gzip",
        "The body is said to be gzip and is not.",
        _body(lambda body, _values: body, ("content-encoding", "gzip")),
    ),
    _odd(
        "gzip bomb",
        "A small body that is huge once it is unpacked.",
        _body(lambda _body, values: _bomb(values["bytes"]), ("content-encoding", "gzip")),
        bytes=_bytes(20_000_000),
    ),
    _odd(
        "huge body",
        "A body of megabytes.",
        _body(lambda _body, values: _pad(values["bytes"])),
        bytes=_bytes(2_000_000),
    ),
    _unusable("JSON truncated", "JSON that stops halfway.", _body(lambda body, _values: body[: half(body)])),
    _unusable("JSON null", "JSON, and it is null.", _body(lambda _body, _values: b"null")),
    _unusable(
        "JSON of the wrong type",
        "JSON, and it is a list.",
        _body(lambda body, _values: b"[" + body + b"]"),
    ),
    _unusable(
        "JSON nested deep",
        "JSON that is nested 100,000 deep.",
        _body(lambda _body, _values: b"[" * 100_000 + b"]" * 100_000),
    ),
    _odd("JSON with duplicate keys", "JSON that holds each field twice.", _body(_twice)),
    _unusable("not JSON", "A page for people.", _body(lambda _body, _values: b"<html>Welcome</html>")),
    _unusable("sdkInput missing", "JSON without an sdkInput.", _always("{}")),
    _unusable("sdkInput null", "The sdkInput is null.", _always('{"sdkInput": null}')),
    _unusable("sdkInput empty", "The sdkInput is empty text.", _always('{"sdkInput": ""}')),
    _opaque(
        "sdkInput foreign",
        "A genuine sdkInput of another payment instrument.",
        _seal_again(
            lambda claims: {
                "paymentInstrumentId": next(id_ for id_ in INSTRUMENT_IDS if id_ != claims["paymentInstrumentId"])
            }
        ),
    ),
    _opaque(
        "sdkInput stale",
        "A genuine sdkInput of the request before this one.",
        _seal_again(lambda claims: {name: claims[name] - 1 for name in ("serial", "attempt") if name in claims}),
    ),
    _opaque(
        "sdkInput damaged",
        "The sdkInput was changed on its way.",
        _sdk_input(lambda text, _chance, values: json.dumps({"sdkInput": damaged(text, values["damage"])})),
        damage=_one_of("one character changed", tuple(DAMAGES)[1:]),
    ),
)


# Faults in the status: another answer replaces the right one.
#
# The published statuses are 200, 400, 401, 403, 422 and 500, and one example of a 503 says 500 in its body
# (openapi). The others come from what is between two machines: gateways, limits, caches (assumed).

# The `detail` of each problem that a fault answers.
FAULT_DETAIL = "This answer is a fault that was planned."


def _problem(
    problem: Problem, status: int | None = None, headers: Callable[[Mapping[str, Any]], Headers] = lambda _values: ()
) -> Effect:
    """The problem's body, under its own status or another, with further headers."""
    status, body = status or problem.status, problem.body(FAULT_DETAIL)
    return lambda _answer, _chance, values: Response(status, JSON_HEADERS + headers(values), body, problem.basis)


def _gateway(status: int, words: str) -> Fault:
    """A page for people, as gateways write it."""
    page = f"<html><h1>{status} {words.title()}</h1></html>".encode()
    answer = Response(status, (("content-type", "text/html"),), page, "assumed")
    sentence = f"{status} ({words}) with a page for people."
    return Fault(str(status), sentence, FaultKind.STATUS, lambda *_: answer)


def _limit(form: str, words: str, headers: Callable[[Mapping[str, Any]], Headers], **settings: Setting) -> Fault:
    """A 429 whose headers hold Retry-After in this form."""
    change = _problem(Problem(429, "00_429", "Too many requests", "assumed"), headers=headers)
    return Fault(f"429 {form}", f"429, and {words}.", FaultKind.LIMIT, change, settings=settings)


def _at_a_date(values: Mapping[str, Any]) -> Headers:
    """A date means something only beside the answer's own (RFC 9110), so both are given."""
    from email.utils import formatdate  # slow to import, and only one fault holds a date

    now = 1_767_225_600  # 1 January 2026 in seconds, always, so that the bytes are the same on every run
    then = formatdate(now + values["seconds"], usegmt=True)
    return (("date", formatdate(now, usegmt=True)), ("retry-after", then))


def _published_status(broken: Broken) -> Fault:
    problem = SPEC.problems[broken]
    status, sentence = str(problem.status), f"{problem.status} ({problem.title}), which is published (openapi)."
    return Fault(status, sentence, FaultKind.STATUS, _problem(problem), problem.source)


def _pause() -> Setting:
    """The seconds of a Retry-After, at most a day."""
    return _number(1, 0, 86_400, whole=True)


# Every fault of the status, the one that does nothing first.
STATUSES = (
    _fault(FaultKind.NONE, "200", "The answer unchanged: no fault.", lambda answer, *_: answer, source="openapi"),
    *map(_published_status, (Broken.JSON, Broken.WRONG_KEY, Broken.ROLE, Broken.INACTIVE, Broken.OURS)),
    _status("404", "404 (Not found), as for a path that nobody serves.", _problem(SPEC.problems[Broken.PATH])),
    _status("409", "409 (Conflict).", _problem(Problem(409, "00_409", "Conflict", "assumed"))),
    _limit(
        "in seconds",
        "Retry-After is a number of seconds",
        lambda values: (("retry-after", str(values["seconds"])),),
        seconds=_pause(),
    ),
    _limit(
        "at a date", "Retry-After is an HTTP date: the answer's own Date plus the seconds", _at_a_date, seconds=_pause()
    ),
    _limit("with garbage", "Retry-After is neither a number nor a date", lambda _values: (("retry-after", "soon"),)),
    _limit("without Retry-After", "nothing says when to try again", lambda _values: ()),
    _gateway(502, "Bad gateway"),
    _status(
        "503 that says 500",
        "503 whose body says 500, as the one published example has it.",
        _problem(Problem(500, "99_500", "An internal error happened", "openapi"), 503),
        source="openapi",
    ),
    _gateway(504, "Gateway timeout"),
    _status(
        "redirect",
        "A redirect to another origin, where the key must not go.",
        lambda _answer, _chance, values: Response(
            values["status"], (("location", values["location"]),), b"", "assumed"
        ),
        status=_one_of(302, (301, 302, 303, 307, 308)),
        location=_text(
            "text", "https://elsewhere.invalid/", "printable ASCII text of 1 to 200 characters", "[ -~]{1,200}"
        ),
    ),
)


# Faults on the wire: the answer is late, slow, cut or lost. Nothing in it is changed (all of it assumed).
#
# A delay ends in the answer; a stall never does: after it the connection is closed.


def _seconds(default: float, least: float = 0.0) -> Setting:
    return _number(default, least, 3600.0)


def _late(draw: Callable[[float, Mapping[str, Any]], float]) -> Effect:
    """The answer, after as many seconds as are drawn; like a setting, that is an hour at most."""

    def change(answer: Response, chance: Chance, values: Mapping[str, Any]) -> Response:
        return replace(answer, wire=replace(answer.wire, before_headers=min(3600.0, draw(chance.draw, values))))

    return change


def _log_normal(draw: float, values: Mapping[str, Any]) -> float:
    """Seconds from two known figures of a service: its usual time, and what one request in a hundred exceeds."""
    from statistics import NormalDist  # loaded when a time is drawn so

    median, p99 = values["median"], values["p99"]
    deviations = NormalDist().inv_cdf(draw) / NormalDist().inv_cdf(0.99)
    return float(median * (p99 / median) ** deviations)


def _travels(ending: Ending = Ending.WHOLE, **waits: str) -> Effect:
    """The answer with this ending; `waits` names the setting that holds the seconds of each wait."""

    def change(answer: Response, _chance: Chance, values: Mapping[str, Any]) -> Response:
        seconds: dict[str, Any] = {wait: float(values[setting]) for wait, setting in waits.items()}
        return replace(answer, wire=replace(answer.wire, ending=ending, **seconds))

    return change


# Every fault on the wire, the harmless ones first.
ON_THE_WIRE = (
    _delay(
        "latency",
        "The answer comes late.",
        _late(lambda _draw, values: float(values["seconds"])),
        seconds=_seconds(0.5),
    ),
    _delay(
        "uniform latency",
        "The answer comes late, by any time between two limits.",
        _late(lambda draw, values: float(values["least"] + draw * (values["most"] - values["least"]))),
        rising=True,
        least=_seconds(0.1),
        most=_seconds(0.9),
    ),
    _delay(
        "log-normal latency",
        "The answer comes late: often by little, seldom by much, as from a real service.",
        _late(_log_normal),
        rising=True,
        median=_seconds(0.2, 0.001),
        p99=_seconds(1.0, 0.001),
    ),
    _delay("dribble", "The body comes byte by byte.", _travels(every="seconds"), endless=True, seconds=_seconds(0.1)),
    _lost(
        "stall before headers",
        "Silence, and then the connection is closed without an answer.",
        _travels(Ending.CLOSED, before_headers="seconds"),
        endless=True,
        seconds=_seconds(30.0),
    ),
    _lost(
        "stall after headers",
        "The headers, silence, half of the body, and then the connection is closed.",
        _travels(Ending.TRUNCATED, after_headers="seconds"),
        endless=True,
        seconds=_seconds(30.0),
    ),
    _lost("reset", "The connection is reset (RST) instead of an answer.", _travels(Ending.RESET)),
    _lost("close", "The connection is closed (FIN) instead of an answer.", _travels(Ending.CLOSED)),
    _lost(
        "truncated body",
        "The connection is closed in the middle of the body that content-length promised.",
        _travels(Ending.TRUNCATED),
    ),
    _lost(
        "missing last chunk",
        "The body comes in chunks, and the connection is closed before the one that ends it.",
        _travels(Ending.NO_LAST_CHUNK),
    ),
    _lost("bad chunk", "The body comes in chunks, and the second chunk has no size.", _travels(Ending.BAD_CHUNK)),
    _fault(
        FaultKind.UNFRAMED,
        "wrong content-length",
        "The content-length is half of the body's length, and the whole body is sent.",
        _travels(Ending.WRONG_LENGTH),
    ),
)


# Each fault by its name; the first, `200`, does nothing.
FAULTS: Mapping[str, Fault] = {fault.name: fault for fault in (*STATUSES, *ON_THE_WIRE, *BODIES)}

# In a body that is set, this stands for the sdkInput of the right answer.
PLACEHOLDER = "\N{HORIZONTAL ELLIPSIS}"


def _write_by_hand(answer: Response, _chance: Chance, values: Mapping[str, Any]) -> Response:
    """The status and the body as somebody wrote them."""
    body = values["body"]
    if PLACEHOLDER in body and answer.body.startswith(OPENING):
        body = body.replace(PLACEHOLDER, json.loads(answer.body)["sdkInput"])
    kind = "application/json" if body.lstrip().startswith(("{", "[")) else "text/plain"
    return Response(values["status"], (("content-type", kind),), body.encode(), "assumed")


# An answer that is written by hand. It is none of `FAULTS`, because what becomes of it depends on what is written.
EDITED = Fault(
    "another answer",
    f"A status and a body written by hand; {PLACEHOLDER} in the body stands for the right sdkInput.",
    FaultKind.STATUS,
    _write_by_hand,
    settings={
        "status": _number(200, 200, 599, whole=True),
        # UTF-8 can write everything but half a surrogate pair
        "body": _text(
            "body", f'{{"sdkInput": "{PLACEHOLDER}"}}', "text of at most 4,000 characters", "[^\ud800-\udfff]{0,4000}"
        ),
    },
)


def fault(name: str) -> Fault:
    """The fault of this name; `fault("latency").but(seconds=2.0)` sets what can be set.

    Raises:
        ParameterError: there is none.
    """
    return lookup("fault", name, {**FAULTS, EDITED.name: EDITED})


# The plan decides which request gets which fault: rules in order, at most one fault for a request, the same ones for
# the same seed.
#
# A rule says for which requests it is meant, and which of those it faults: all, the n-th, or a share. It counts the
# requests that it is meant for, whether or not an earlier rule takes them, so no rule disturbs another.

# On which side of the service's work a request is faulted.
Moment = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Planned:
    """One rule: this fault, for these requests.

    Attributes:
        fault: what is played.
        operation: GET or POST; None for both.
        payment_instrument_id: only this instrument's requests; None for all.
        nth: only the n-th of these requests, from 1.
        share: only this share of them, 0 to 1, drawn anew for each.
        moment: `before` the service has done anything (its state does not move), or `after` it has (its state has
            moved, once, and the answer is spoilt). A harmless fault lets the request through in either moment.

    Raises:
        ParameterError: a value is not allowed.
    """

    fault: Fault
    operation: Method | None = None
    payment_instrument_id: str | None = None
    nth: int | None = None
    share: float | None = None
    moment: Moment = "before"

    def __post_init__(self) -> None:
        if not isinstance(self.fault, Fault):
            raise ParameterError(f"A plan takes a fault, not {quoted(self.fault)}. Write fault('reset').")
        if self.operation is not None:
            choice("operation", self.operation, get_args(Method))
        choice("moment", self.moment, get_args(Moment))
        card = self.payment_instrument_id
        if card is not None and not (isinstance(card, str) and card):
            raise ParameterError(f"payment_instrument_id is {quoted(card)}. Allowed: text that is not empty.")
        if self.nth is not None and not is_whole(self.nth, 1):
            raise ParameterError(f"nth is {quoted(self.nth)}. Allowed: a whole number, 1 or more.")
        if self.share is not None and not is_number(self.share, 0, 1):
            raise ParameterError(f"share is {quoted(self.share)}. Allowed: a number, 0 to 1.")
        if self.nth is not None and self.share is not None:
            raise ParameterError("A planned fault takes the n-th request or a share. Leave out nth or share.")

    @classmethod
    def of(cls, **settings: Any) -> Planned:
        """A rule from plain values, as a TOML table has them: `fault`, this class's fields, the fault's settings.

        Raises:
            ParameterError: a name is unknown, or a value is not allowed.
        """
        if "fault" not in settings:
            raise ParameterError("A planned fault needs a name. Write fault = 'reset', for one.")
        chosen, of_rule = fault(settings.pop("fault")), {field.name for field in fields(cls)}
        for name in settings:
            if name not in of_rule and name not in chosen.settings:
                hint = did_you_mean(name, of_rule | set(chosen.settings))
                raise ParameterError(f"A planned fault {chosen.name!r} has no setting {quoted(name)}. {hint}")
        of_fault = {name: value for name, value in settings.items() if name not in of_rule}
        return cls(chosen.but(**of_fault), **{name: settings[name] for name in settings if name in of_rule})

    def is_meant_for(self, operation: str, payment_instrument_id: str) -> bool:
        """Whether it counts a request like this."""
        return self.operation in (None, operation) and self.payment_instrument_id in (None, payment_instrument_id)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rule that takes a request, and the number that its fault draws on (see `Chance`)."""

    planned: Planned
    draw: float

    @property
    def moves_state(self) -> bool:
        """Whether the service does what it was asked before its answer is faulted."""
        return self.planned.moment == "after" or self.planned.fault.harmless


class FaultPlan:
    """Chooses the fault of each request; its only state is one count for each rule.

    Args:
        planned: the rules; the first that takes a request wins.
        seed: of the shares and of what faults draw.

    Raises:
        ParameterError: one is no rule, or the seed is no whole number.
    """

    def __init__(self, planned: Iterable[Planned] = (), seed: int = 7) -> None:
        self.planned = tuple(planned)
        self.seed = seed
        self._counts = [0] * len(self.planned)
        if wrong := [rule for rule in self.planned if not isinstance(rule, Planned)]:
            raise ParameterError(f"A plan is made of Planned(...), not of {quoted(wrong[0])}.")
        if not is_whole(seed):
            raise ParameterError(f"A seed is a whole number, such as 7, not {quoted(seed)}.")

    def __repr__(self) -> str:
        return f"FaultPlan({', '.join(rule.fault.name for rule in self.planned)}; seed {self.seed})"

    def choose(self, operation: str, payment_instrument_id: str) -> Chosen | None:
        """Count this request, and say which fault it gets, if any."""
        chosen = None
        for at, rule in enumerate(self.planned):
            if not rule.is_meant_for(operation, payment_instrument_id):
                continue
            self._counts[at] += 1
            applies = rule.nth in (None, self._counts[at])
            applies = applies and (rule.share is None or self._draw(at, "share") < rule.share)
            if chosen is None and applies:
                chosen = Chosen(rule, self._draw(at, "draw"))
        return chosen

    def _draw(self, rule: int, purpose: str) -> float:
        """A number between 0 and 1, both excluded; seed, rule, count and purpose decide it."""
        text = f"{self.seed} {rule} {self._counts[rule]} {purpose}"
        digest = blake2b(text.encode(), digest_size=8, person=b"faults").digest()
        return ((int.from_bytes(digest, "big") >> 12) + 0.5) / 2**52  # 52 bits and half a step: the draw is exact


def plan_from(table: dict[str, Any]) -> Planned:
    """The rule that one `[[fault]]` table describes.

    Raises:
        ConfigurationError: it is invalid.
    """
    if not isinstance(table, dict):
        raise ConfigurationError("it is no table. Write such as {'fault': 'reset', 'operation': 'GET'}.")
    for name, value in table.items():  # Python reads longer whole numbers than TOML allows, and cannot print them
        if is_whole(value) and value.bit_length() > 63:  # bits of TOML's whole numbers
            raise ConfigurationError(f"{name!r:.40} is a whole number of more than 63 bits. Give a smaller one.")
    try:
        return Planned.of(**table)
    except (TypeError, RecursionError):  # a key such as "cls"
        raise ConfigurationError("it cannot be read. Look at the form in `workbook.simulation.faults`.") from None
