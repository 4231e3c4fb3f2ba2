"""Writes a commented `back-end.toml` from answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BeforeValidator

from workbook.conformance.config_file import (
    CardIds,
    HeaderName,
    Method,
    PathTemplate,
    Prefix,
    Url,
    ValuePlace,
    Variable,
)
from workbook.conformance.model import Group
from workbook.errors import ConfigurationError
from workbook.files import write_whole
from workbook.forms import Says, mistake
from workbook.templates import fill

Answers = dict[str, str]


# The questions of `workbook conform init`, as data.

CARDS = ", ".join(f"PIEXAMPLE{number:016d}" for number in range(1, 7))
"""Six, as many as any one case needs."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        key: what the answer is kept under.
        asks: in words.
        usual: the answer for an empty line.
        kind: the annotated type of an answer.
        when: whether it is asked, from the answers so far.
    """

    key: str
    asks: str
    usual: str
    kind: Any
    when: Callable[[Answers], bool] = lambda _answers: True


def listed(answer: str) -> list[str]:
    """An answer that names several things, with commas between."""
    return [one.strip() for one in answer.split(",") if one.strip()]


CardList = Annotated[CardIds, BeforeValidator(listed), Says("ids with commas between them, each once")]
HeaderOrNone = Annotated[
    str,
    AfterValidator(lambda answer: answer if answer == "none" or not mistake(HeaderName, answer) else _no()),
    Says("the name of a header, or none"),
]
Line = Annotated[str, AfterValidator(lambda answer: answer if answer.isprintable() else _no()), Says("a line of text")]


def _no() -> NoReturn:
    raise ValueError


QUESTIONS = (
    Question("base_url", "Where does your back end listen?", "http://127.0.0.1:8080", Url),
    Question("platforms", "Which platforms do your apps run on: A, B or both?", "both", Literal["A", "B", "both"]),
    Question("get_method", "Method of the call that gives the app the GET's sdkInput?", "GET", Method),
    Question("get_path", "Its path, with {id} for the payment instrument's id?", "/cards/{id}/activation-data",
             PathTemplate),
    Question("get_sdk_input", 'Where in its answer is the sdkInput (a JSON pointer, or "raw")?', "/sdkInput",
             ValuePlace),
    Question("post_method", "Method of the call that takes the sdkOutput?", "POST", Method),
    Question("post_path", "Its path?", "/cards/{id}/provision", PathTemplate),
    Question("sdk_output", 'Where in its body is the sdkOutput (a JSON pointer, or "raw")?', "/sdkOutput",
             ValuePlace),
    Question("post_sdk_input", 'Where in its answer is the sdkInput (a JSON pointer, or "raw")?', "/sdkInput",
             ValuePlace),
    Question("encoding", "On platform B, does the app get the API's base64 text, or the bytes themselves (base64 or "
             "bytes)?", "base64", Literal["base64", "bytes"],
             lambda got: got["platforms"] != "A" and {got["get_sdk_input"], got["post_sdk_input"], got["sdk_output"]}
             == {"raw"}),
    Question("cards", "Payment instrument ids of a test cardholder's cards, as your back end knows them, with commas "
             "between?", CARDS, CardList),
    Question("header", "Which header presents the cardholder's session (none for no session)?", "authorization",
             HeaderOrNone),
    Question("prefix", "Which word comes before it, such as Bearer (none for no word)?", "Bearer", Prefix,
             lambda got: got["header"] != "none"),
    Question("variable", "Which environment variable will hold the session?", "CARDHOLDER_SESSION", Variable,
             lambda got: got["header"] != "none"),
    Question("url_name", "Under which name does your back end read the API's address?", "API_URL", Variable),
    Question("key_name", "And its key?", "API_KEY", Variable),
    Question("command", "A command that starts your back end (empty: you start it yourself)?", "", Line),
)  # fmt: skip


def usual() -> Answers:
    """The usual answers, for when nobody is asked."""
    return {question.key: question.usual for question in QUESTIONS}


def asked(ask: Callable[[str], str], tell: Callable[[str], object]) -> Answers:
    """Ask a person; explain a wrong answer, and ask again.

    Args:
        ask: shows a prompt and returns the answer.
        tell: shows a line.
    """
    answers = usual()
    for question in QUESTIONS:
        if not question.when(answers):
            continue
        prompt = f"{question.asks}{f' [{question.usual}]' * bool(question.usual)} "
        answer = ask(prompt).strip() or question.usual
        while wrong := mistake(question.kind, answer):
            tell(f"  {wrong}")
            answer = ask(prompt).strip() or question.usual
        answers[question.key] = answer
    return answers


def text(answers: Answers) -> str:
    """The file that these answers make."""
    return fill("back-end.toml", **answers | {"cards": listed(answers["cards"]), "groups": list(Group)})


def write(path: Path, text: str, *, over: bool = False) -> None:
    """Write the file; `over` replaces an existing one.

    Raises:
        ConfigurationError: the file exists already, or it cannot be written.
    """
    free(path, over=over)
    try:
        write_whole(path, text)
    except OSError as error:
        raise ConfigurationError(f"Cannot write {str(path)!r}: {error.strerror}.") from None


def free(path: Path, *, over: bool = False) -> None:
    """Refuse to overwrite an existing file, unless `over` allows it.

    Raises:
        ConfigurationError: the file exists already, or there is no folder for it.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigurationError(f"{str(path)!r} is not a file in an existing folder.")
    if path.exists() and not over:
        raise ConfigurationError(f"{str(path)!r} exists already. Give --force to overwrite it, or name another file.")
