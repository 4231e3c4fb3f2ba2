"""The matrix of a sweep: the product of the values that each platform knows, pruned by the file's conditions.

A combination is a mapping of a dimension's name to its value, both text. `spec` writes one on a line, and `from_spec`
reads that line.
"""

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from itertools import count, filterfalse, islice
from math import gcd, prod
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model

from workbook.base.forms import Form, Mistakes, Place, Says, quoted_toml, read_form, read_toml
from workbook.base.values import did_you_mean, lookup
from workbook.errors import ParameterError
from workbook.flows.variants import SURFACES, VARIANTS_A, VARIANTS_B
from workbook.play.back_end import BACK_ENDS
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS
from workbook.play.platform_b import APPS_B
from workbook.simulation.faults import FAULTS
from workbook.simulation.phones import PHONES_A, PHONES_B, WALLETS

# The value of each dimension that its platform has, by the dimension's name.
Combination = dict[str, str]


def _each(*values: str) -> Mapping[str, Sequence[str]]:
    return dict.fromkeys(("a", "b", "wallet"), values)


# Each dimension with its values on each platform, the ordinary one first.
#
# From `back_end` to `handler` it is a choice of the integrator's, and what it adds to the ordinary ones can be a
# failure. A latency is also any number of seconds, and a seed any number.
DIMENSIONS: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({
    "platform": {each: (each,) for each in ("a", "b", "wallet")},
    "variant": {"a": [*VARIANTS_A][::-1], "b": [*VARIANTS_B][::-1], "wallet": [*VARIANTS_B][::-1]},
    "surface": {"wallet": SURFACES},
    "phone": {"a": [*PHONES_A], "b": [*PHONES_B], "wallet": [*WALLETS]},
    "card": _each("first", "second", "third", "inactive", "suspended", "closed", "bankAccount", "unknown",
                  "of another wallet"),
    "cards": {"wallet": [str(number) for number in range(1, 31)]},
    "fault": _each(*FAULTS),
    "operation": _each("GET", "POST"),
    "moment": _each("before", "after"),
    "latency": _each("usual"),
    "taps": {"a": ["1", "2", "3"]},
    "seed": _each("7"),
    "back_end": _each(*BACK_ENDS),
    "guarded": {"a": ["yes", "no"]},
    "app": {"a": ["good"], "b": [*APPS_B]},
    "authorization": {"wallet": [*AUTHORIZATIONS]},
    "handler": {"wallet": [*HANDLERS]},
})  # fmt: skip
# How a value is written that is none of these.
WRITTEN = {
    "latency": r"\d{1,3}(\.\d{1,3})?",
    "seed": r"\d{1,10}",
    "app": r"[\w.]+:\w+",
    "handler": r"[\w.]+:\w+",
}


@cache
def choices() -> list[str]:
    """The dimensions that the integrator decides."""
    names = [*DIMENSIONS]
    return names[names.index("back_end") : names.index("handler") + 1]


@cache
def ordinary(platform: str) -> Mapping[str, str]:
    """The combination of ordinary values on this platform."""
    return {name: values[platform][0] for name, values in DIMENSIONS.items() if platform in values}


def spec(combination: Mapping[str, str]) -> str:
    """The combination on one line, without its ordinary values."""
    usual = ordinary(combination["platform"])
    told = {n: v for n, v in combination.items() if n == "platform" or (v and v != usual.get(n))}
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in told.items())


def from_spec(line: str) -> Combination:
    """The combination of a line; what it leaves out is ordinary.

    Raises:
        ParameterError: it is no such line, or a name or a value is unknown.
    """
    example = "Write such as platform=a fault='503 that says 500' operation=POST."
    try:
        told = dict(word.partition("=")[::2] for word in shlex.split(str(line)))
    except ValueError as error:
        raise ParameterError(f"This is no combination: {error}. {example}") from None
    if told.get("platform") not in DIMENSIONS["platform"]:
        raise ParameterError(f"A combination needs a platform: a, b or wallet. {example}")
    for name, value in told.items():
        known = lookup("dimension", name, DIMENSIONS).get(told["platform"], ())
        if value not in known and not re.fullmatch(WRITTEN.get(name, "(?!)"), value):
            allowed = [*known, *(["seconds, such as 1.5"] if name == "latency" else [])]
            raise ParameterError(f"{name} is {value[:60]!r}. {did_you_mean(value, allowed)}")
    return {**ordinary(told["platform"]), **told}


# The file.


def _once(values: list[Any]) -> list[Any]:
    if not values or len(set(map(str, values))) < len(values):
        raise ValueError
    return values


Values = Annotated[
    Literal["all"] | Annotated[list[str | int | float], AfterValidator(_once)],
    Says('"all", or a list of values, each once'),
]
MatrixForm = create_model(  # type: ignore[call-overload]  # its fields are made from a table
    "MatrixForm",
    __base__=Form,
    chunk=(Annotated[int, Field(ge=1, le=100_000), Says("the rows of a file, from 1 to 100000")], 1000),
    seeds=(Annotated[int, Field(ge=1, le=1_000_000), Says("how many seeds, from 1 to 1000000")], 0),
    without=(list[dict[str, str | int | float | list[str | int | float]]], Field(default_factory=list)),
    **{name: (Values | None, None) for name in DIMENSIONS if name != "seed"},
)


@dataclass(frozen=True)
class Matrix:
    """Everything that decides the rows of a sweep.

    Attributes:
        axes: for each platform the values of each of its dimensions, the last dimension changing fastest.
        without: what is left out: for each dimension that a condition names, its values.
        chunk: combinations of the product in a file.
        limit: how many combinations are played, spread over all of them; 0 for all.
        patience: seconds of real time after which code of the integrator's own counts as hanging.
    """

    axes: Mapping[str, Mapping[str, Sequence[str]]]
    without: Sequence[Mapping[str, Sequence[str]]] = ()
    chunk: int = 1000
    limit: int = 0
    patience: float = 2.0

    @property
    def product(self) -> int:
        """How many combinations the product has, those left out included."""
        return sum(prod(map(len, axes.values())) for axes in self.axes.values())

    @property
    def digest(self) -> str:
        """What distinguishes it from any other matrix."""
        return sha256(json.dumps(vars(self)).encode()).hexdigest()

    def numbers(self) -> Iterator[int]:
        """The numbers of the combinations that are played, in the order of their rows."""
        if not self.limit or self.limit >= self.product:
            before = 0
            for axes in self.axes.values():
                yield from (before + number for number in self._walk([*axes.items()], 0, {}))
                before += prod(map(len, axes.values()))
            return
        # A limit takes every n-th of the product, where n has no divisor in common with it: none comes twice, and the
        # golden section spreads them evenly. Those that are left out do not count.
        near = int(self.product * 0.6180339887)
        step = next(n for n in count(max(near, 1)) if gcd(n, self.product) == 1)
        spread = (at * step % self.product for at in range(self.product))
        yield from islice(filterfalse(self._leaves_out, spread), self.limit)

    def _leaves_out(self, number: int) -> bool:
        c = self.combination(number)
        return any(self._is_left_out(c, name) for name in c)

    def _walk(self, axes: Sequence[tuple[str, Sequence[str]]], number: int, c: Combination) -> Iterator[int]:
        """The numbers below these axes; a branch that is left out is left at once."""
        if not axes:
            yield number
            return
        (name, values), *rest = axes
        for at, value in enumerate(values):
            c[name] = value
            if not self._is_left_out(c, name):
                yield from self._walk(rest, number * len(values) + at, c)
            del c[name]

    def _is_left_out(self, c: Combination, name: str) -> bool:
        """Whether a condition that names this dimension is met, or it repeats an earlier one in other words."""
        if name == "moment" and (FAULTS[c["fault"]].harmless and c[name] != "before"):
            return True
        if name == "operation" and c["fault"] == "200" and c[name] != "GET":
            return True
        mistake = APPS_B.get(c[name], {}) if name == "app" and c["variant"] == "earlier" else {}
        if "calls" in mistake or "keeps_watch_availability" in mistake:
            return True  # the earlier variant knows no watch
        return any(name in each and all(c.get(n) in vs for n, vs in each.items()) for each in self.without)

    def combination(self, number: int) -> Combination:
        """The combination with this number."""
        axes: Mapping[str, Sequence[str]] = {}
        for axes in self.axes.values():
            if number < (size := prod(map(len, axes.values()))):
                break
            number -= size
        found: Combination = {}
        for name in [*axes][::-1]:
            number, at = divmod(number, len(axes[name]))
            found[name] = axes[name][at]
        return {name: found[name] for name in axes}


def read_matrix(
    path: Path | None,
    *,
    app: str = "",
    handler: str = "",
    limit: int = 0,
) -> Matrix:
    """The matrix of a file; the workbook's own without one.

    Args:
        path: of the file.
        app: code of the integrator's own, as `module:name`: a fetchOpc, or a class of delegates.
        handler: a handler of the integrator's own, as `module:Class`.
        limit: as `Matrix` has it.

    Raises:
        BadConfigurationError: the file has mistakes.
        ParameterError: the matrix has no combination, or too many.
    """
    example = "`workbook sweep --print` prints a matrix to begin with."
    file = path or Path(__file__).with_name("matrix.toml")
    document = read_toml(file, example)
    mistakes = Mistakes()
    form = read_form(MatrixForm, document, mistakes)
    axes = _axes(form, mistakes)
    without = [
        {name: _values(values, axes, name, (at, name), mistakes) for name, values in condition.items()}
        for at, condition in enumerate(form.without)
    ]
    mistakes.raise_for(file.name)
    own = [("app", "b" if isinstance(imported("--app", app), type) else "a", app)] if app else []
    own += [("handler", "wallet", handler)] if handler and imported("--handler", handler) else []
    if own:  # of the other platforms no row would tell anything about this code
        usual = {platform: {n: [v] for n, v in ordinary(platform).items()} for _name, platform, _code in own}
        axes = {platform: {**axes.get(platform, usual[platform]), name: [code]} for name, platform, code in own}
    return _playable(Matrix(axes, without, form.chunk, limit))


def _axes(form: Any, mistakes: Mistakes) -> dict[str, dict[str, Sequence[str]]]:
    """The values of each dimension on each platform; a platform that knows none of them takes its ordinary one."""
    chosen = form.platform if isinstance(form.platform, list) else [*DIMENSIONS["platform"]]
    axes: dict[str, dict[str, Sequence[str]]] = {
        each: {name: [value] for name, value in ordinary(each).items()}
        for each in chosen
        if each in DIMENSIONS["platform"]
    }
    for name, given in form:
        if name not in DIMENSIONS or given is None:
            continue
        texts = [str(value) for value in given]
        more = [text for text in texts if given != "all" and re.fullmatch(WRITTEN.get(name, "(?!)"), text)]
        known = {each: [*values, *more] for each, values in DIMENSIONS[name].items()}
        words = {word for values in known.values() for word in values}
        for value in texts if given != "all" else ():
            if value not in words:
                mistakes.add((name,), f"it cannot be {quoted_toml(value)}. {did_you_mean(value, words)}")
        for platform, mine in axes.items():
            if values := [value for value in known.get(platform, ()) if given == "all" or value in texts]:
                mine[name] = values
    if form.seeds:
        axes = {platform: mine | {"seed": [*map(str, range(1, form.seeds + 1))]} for platform, mine in axes.items()}
    return axes


def _values(given: Any, axes: Mapping[str, Any], name: str, place: Place, mistakes: Mistakes) -> Sequence[str]:
    """The values that a condition names; one that begins with `not ` stands for all but itself."""
    named = [str(value) for value in (given if isinstance(given, list) else [given])]
    known = [*dict.fromkeys(value for mine in axes.values() for value in mine.get(name, ()))]
    if name not in DIMENSIONS:
        mistakes.add(("without", *place), f"there is no such dimension. {did_you_mean(name, [*DIMENSIONS])}")
    elif wrong := [value for value in named if value.removeprefix("not ") not in known]:
        mistakes.add(("without", *place), f"it names {quoted_toml(wrong[0])}. {did_you_mean(wrong[0], known)}")
    found = {word for value in named for word in ([value] if value in known else {*known} - {value[4:]})}
    return [value for value in known if value in found]


def imported(option: str, name: str) -> Any:
    """What `module:name` names; the current folder is searched, too.

    Raises:
        ParameterError: there is no such thing.
    """
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # last: a file of this folder takes the place of no module that we load later
    try:
        return getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # importing runs the integrator's code
        why = f"{type(error).__name__}: {error}"[:200]
        raise ParameterError(f"{option} {name[:60]!r} cannot be imported ({why}). Give MODULE:NAME.") from None


def _playable(matrix: Matrix) -> Matrix:
    """The matrix, if it has combinations and not too many."""
    if (matrix.limit or matrix.product) > 10_000_000:
        raise ParameterError(
            f"The product has {matrix.product:,} combinations, and a sweep takes at most 10,000,000. Name fewer values "
            "in the matrix, or take a part that is spread over all of it: --limit 100000."
        )
    if next(matrix.numbers(), None) is None:
        raise ParameterError(
            f"The matrix leaves all of its {matrix.product:,} combinations out. Take a condition out of [[without]]."
        )
    return matrix
