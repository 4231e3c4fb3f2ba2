"""Forms of files that people write: pydantic reads them, and every mistake becomes one sentence.

A form is a `Form` whose fields are `Annotated`, with `Says` as the last item. Each mistake begins with its label, says
what is wrong and what is allowed:

    [timeouts] answer: it is 30; give seconds from 0.1 to 20.
    [[cardholder]] 2 nmae: there is no such key. Did you mean 'name'?

A value that may be a secret is never repeated (`Says(..., hidden=True)`). Only modules that read files import this one,
because it imports pydantic.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ValidatorFunctionWrapHandler, no_info_wrap_validator_function

from workbook.base.files import read_regular
from workbook.base.terminal import visible
from workbook.base.values import did_you_mean, nearest, quoted
from workbook.errors import ConfigurationError

# Where a value is in a document: keys, and positions from 0. An empty key at the end means the table itself.
Place = tuple[str | int, ...]
# Bytes of a file that is read; people write these files by hand.
_LARGEST_FILE = 1_048_576

FormT = TypeVar("FormT", bound="Form")


class Form(BaseModel):
    """A table of a file: no conversions, and no keys but its own."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class Says:
    """Says in our words why pydantic refuses a value; the last item of an `Annotated` type.

    Attributes:
        what: what to give instead, such as `seconds from 0 to 120`.
        hidden: the value may be a secret, so an error does not repeat it.
    """

    what: str
    hidden: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Wrap what the other annotations check."""
        return no_info_wrap_validator_function(self._read, handler(source))

    def _read(self, value: object, inner: ValidatorFunctionWrapHandler) -> object:
        try:
            return inner(value)
        except (ValidationError, OverflowError) as error:  # overflow: a whole number that no float can hold
            if isinstance(error, ValidationError):
                first = error.errors(include_url=False, include_input=False)[0]
                if first["type"] == "refused" and not first["loc"]:
                    raise
            raise refusal(
                f"give {self.what}." if self.hidden else f"it is {quoted_toml(value)}; give {self.what}."
            ) from None


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError
    return text


def distinct(texts: list[str]) -> list[str]:
    """These texts, each once.

    Raises:
        ValueError: one comes again.
    """
    if len(set(texts)) < len(texts):
        raise ValueError
    return texts


Text = Annotated[
    str,
    Field(min_length=1, max_length=1000),
    AfterValidator(_printable),
    Says("text in quotes, 1 to 1000 printable characters without outer spaces"),
]
Texts = Annotated[list[Text], AfterValidator(distinct), Says("a list of texts, each once")]
Flag = Annotated[bool, Says("true or false")]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1), Says(f"a whole number from 0 to {2**32 - 1}")]


def refusal(what: str) -> PydanticCustomError:
    """The error for a validator to raise when it has a better sentence than `Says`."""
    return PydanticCustomError("refused", "{what}", {"what": what})


class Mistakes:
    """What is wrong with a document, one sentence for each place, in the order in which it was found."""

    def __init__(self) -> None:
        self._by_place: dict[Place, str] = {}

    def add(self, place: Place, what: str) -> None:
        """Add a mistake, unless one of this place, or of a table around it, is known already."""
        if not self.covers(*place):
            self._by_place[place] = what

    def covers(self, *place: str | int) -> bool:
        """Whether this place, or a table around it, is wrong."""
        return any(place[:length] in self._by_place for length in range(1, len(place) + 1))

    def within(self, *place: str | int) -> bool:
        """Whether something at this place, or inside it, is wrong."""
        return any(other[: len(place)] == place for other in self._by_place)

    def sentences(self) -> list[str]:
        """Each mistake with its label."""
        return [f"{label(place)}: {what}" for place, what in self._by_place.items()]

    def raise_for(self, file: str) -> None:
        """Raise what was found.

        Raises:
            BadConfigurationError: there is at least one mistake; holds all of them.
        """
        if self._by_place:
            raise BadConfigurationError(file, self.sentences())


class BadConfigurationError(ConfigurationError):
    """A file has mistakes.

    Attributes:
        mistakes: one sentence each; begins with the label of its place.
    """

    def __init__(self, file: str, mistakes: Sequence[str]) -> None:
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        super().__init__("\n  ".join([f"{file}: {count}.", *mistakes]))
        self.mistakes = tuple(mistakes)


def read_form(form: type[FormT], document: Mapping[str, Any], mistakes: Mistakes) -> FormT:
    """Read a document into its form.

    Wrong values are added to `mistakes` and left out, so that the caller can check the rest and report everything that
    is wrong at once. Give each field of the form a default.
    """
    left: Mapping[str, Any] = document
    for _ in range(4):  # each round leaves out what was wrong: a key, then its table, then the table around it
        try:
            return form.model_validate(left)
        except ValidationError as error:
            errors_by_place = {_place(details): details for details in error.errors(include_url=False)}
        for place, details in errors_by_place.items():
            mistakes.add(place, _sentence(details, form))
        # A table that lacks a key is left out whole. So is a list with a wrong item: without that item, the numbers of
        # the others would shift. A table may need the key that was left out of it: hence the next round.
        wrong = {place[:-1] if details["type"] == "missing" else place for place, details in errors_by_place.items()}
        left = _without(left, {place[:-1] if isinstance(place[-1], int) else place for place in wrong})
    return form()


@contextmanager
def explain_mistake(what: str, again: str = "") -> Iterator[None]:
    """Raise our own error where pydantic refuses what a program wrote: `what` is wrong, where, and what to do next.

    No value is repeated.

    Raises:
        ConfigurationError: the block raised pydantic's error.
    """
    try:
        yield
    except ValidationError as error:
        place = " ".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
        where = f" (see {visible(place[:60])})" if place else ""
        raise ConfigurationError(f"{what}{where}. {again}".rstrip()) from None


# 20 parts of a name, each with its dot; no part is read twice.
_LONG_NAME = re.compile(
    r"""(?<![\w"'-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){20}""",
)


def read_toml(path: Path, example: str) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: of the file.
        example: a sentence that says where to find an example.

    Raises:
        BadConfigurationError: there is no such regular file, it is too large, or it is no TOML in UTF-8.
    """
    file = str(path)[:200]
    try:
        text = read_regular(path, _LARGEST_FILE)
    except FileNotFoundError:
        others = {other.stem: other.name for other in path.parent.glob("*.toml")} if path.parent.is_dir() else {}
        near = nearest(path.stem[:100], others)  # stems only: the ending makes no two names similar
        hint = f" Did you mean {others[near]!r}?" if near else ""
        raise BadConfigurationError(file, [f"there is no such file.{hint} {example}"]) from None
    except OSError as error:
        raise BadConfigurationError(file, [f"it cannot be read: {error.strerror or error}."]) from None
    return parse_toml(text, file, example)


def parse_toml(text: bytes, file: str, example: str) -> dict[str, Any]:
    """The document of a TOML file's bytes; `file` and `example` are for the error.

    Raises:
        BadConfigurationError: there are too many bytes, or they are no TOML in UTF-8.
    """
    if len(text) > _LARGEST_FILE:
        raise BadConfigurationError(file, [f"it is larger than {_LARGEST_FILE} bytes."])
    try:
        return load_toml(text.decode("utf-8-sig"))  # some editors put a byte order mark in front
    except UnicodeDecodeError as error:
        why = f"it is not UTF-8, see byte {error.start}. Save it as UTF-8."
    except RecursionError:
        why = f"it is not TOML: it is nested too deeply. {example}"
    except ValueError as error:  # tomllib's message may repeat a key of the file, but never a value
        why = f"it is not TOML: {str(error)[:200]}. {example}"
    raise BadConfigurationError(file, [why])


def load_toml(text: str) -> dict[str, Any]:
    """The document of a TOML text, whoever wrote it.

    Raises:
        ValueError: it is no TOML, or has a name of more than 20 parts: reading it takes the square of their number.
        RecursionError: it is nested too deeply.
    """
    if found := _LONG_NAME.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"a name has more than 20 parts with dots between them (at line {line})")
    return tomllib.loads(text)


def label(place: Place) -> str:
    """How an error names a place: `key`, `[table] key`, `[table.inner] key` or `[[table]] 2 key`; keys are cut."""
    match [visible(key[:40]) if isinstance(key, str) else key + 1 for key in place]:
        case [name]:
            return str(name)
        case [name, int(number), *keys]:
            return " ".join(map(str, [f"[[{name}]]", number, *keys]))
        case [*tables, key]:
            return f"[{'.'.join(map(str, tables))}] {key}".strip()
        case _:
            return "the file"


def quoted_toml(value: object) -> str:
    """A value as an error repeats it, and as TOML writes it."""
    return str(value).lower() if isinstance(value, bool) else quoted(value)


def choices(details: ErrorDetails) -> list[str]:
    """The words that pydantic allows, where it refused a value of a `Literal` or an enumeration."""
    return re.findall("'([^']*)'", details.get("ctx", {}).get("expected", ""))


def _place(details: ErrorDetails) -> Place:
    *above, last = details["loc"] or ("",)
    return tuple(above) if details["type"] == "refused" and last == "[key]" else (*above, last)  # a refused key


def _sentence(details: ErrorDetails, form: type[Form]) -> str:
    """One of pydantic's errors in our words."""
    value, kind, place = details.get("input"), details["type"], _place(details)
    if kind == "refused":
        return details["msg"]
    if kind == "missing":
        table = _form_at(place[:-1], form)
        says = [item for item in table.model_fields[str(place[-1])].metadata if isinstance(item, Says)] if table else []
        return f"it is missing; give {says[0].what}." if says else "it is missing."
    if kind == "extra_forbidden":
        return f"there is no such key. {_hint(place, form)}"
    if kind == "literal_error" and isinstance(value, str):
        return f"it cannot be {quoted_toml(value)}. {did_you_mean(value, choices(details))}"
    wanted = {
        "literal_error": f"it is {quoted_toml(value)}; give one of {', '.join(choices(details))}.",
        "list_type": "give tables, each under a heading in double brackets.",
    }
    return wanted.get(kind, f"it is {'a text' if isinstance(value, str) else quoted_toml(value)}; give a table.")


def _form_at(place: Place, form: type[Form]) -> type[Form] | None:
    """The form of the table at this place; None where there is none."""
    inner: type[Form] | None = form
    for key in place:
        if isinstance(key, str) and inner is not None and key in inner.model_fields:
            inner = next(_forms(inner.model_fields[key].annotation), None)
    return inner


def _hint(place: Place, form: type[Form]) -> str:
    """Where an unknown key belongs, or which key was probably meant."""
    key, here = str(place[-1]), _form_at(place[:-1], form)
    elsewhere = [where for where, table in _tables(form) if key in table.model_fields and table is not here]
    if elsewhere:
        return f"It belongs {' or '.join(elsewhere)}."
    return did_you_mean(key, here.model_fields if here else [])


def _tables(form: type[Form]) -> Iterator[tuple[str, type[Form]]]:
    """The file's own table and those directly in it, each with the words of an error for its place."""
    yield "at the top of the file", form
    for name, field in form.model_fields.items():
        for inner in _forms(field.annotation):
            yield f"in [[{name}]]" if get_origin(field.annotation) is list else f"in [{name}]", inner


def _forms(annotation: Any) -> Iterator[type[Form]]:
    """The forms that a field's type mentions."""
    if isinstance(annotation, type) and issubclass(annotation, Form):
        yield annotation
    for inner in get_args(annotation):
        yield from _forms(inner)


def _without(value: Any, wrong: set[Place], place: Place = ()) -> Any:
    """A copy of a document without the values at these places."""
    if isinstance(value, Mapping):
        return {key: _without(item, wrong, (*place, key)) for key, item in value.items() if (*place, key) not in wrong}
    if isinstance(value, list):
        return [_without(item, wrong, (*place, at)) for at, item in enumerate(value)]
    return value
