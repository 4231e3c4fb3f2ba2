"""What `workbook conform init` asks, as data, and the answers that it takes where nobody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.conformance import form_words as words
from workbook.conformance.form_words import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Answers = Mapping[str, str]

CARDS = ", ".join(f"PIEXAMPLE{number:016d}" for number in range(1, 7))
"""As many cards as the case that needs most of them at once."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        key: what the answer is kept under.
        asks: in words.
        usual: the answer of whoever only presses enter.
        word: what an answer must be.
        when: whether it is asked, from the answers so far.
    """

    key: str
    asks: str
    usual: str
    word: Word
    when: Callable[[Answers], bool] = lambda _answers: True


def _are_cards(value: object) -> bool:
    return isinstance(value, str) and words.CARDS.fits(listed(value))


def listed(answer: str) -> list[str]:
    """An answer that names several things, with commas between."""
    return [one.strip() for one in answer.split(",") if one.strip()]


CARD_LIST = Word("ids with commas between them, each once", _are_cards)
HEADER_OR_NONE = Word("the name of a header, or none", lambda value: value == "none" or words.HEADER.fits(value))
ANY_PREFIX = Word("at most 20 characters, or none", words.PREFIX.fits)
LINE = Word("a line of text", lambda value: isinstance(value, str) and value.isprintable())
QUESTIONS = (
    Question("base_url", "Where does your back end listen?", "http://127.0.0.1:8080", words.URL),
    Question("platforms", "Which platforms do your apps run on: A, B or both?", "both", words.one_of("A", "B", "both")),
    Question("get_method", "Method of the call that hands out the GET's sdkInput?", "GET", words.METHOD),
    Question("get_path", "Its path, with {id} for the payment instrument's id?", "/cards/{id}/activation-data",
             words.PATH),
    Question("get_sdk_input", 'Where does the sdkInput stand in its answer (a JSON pointer, or "raw")?', "/sdkInput",
             words.PLACE),
    Question("post_method", "Method of the call that takes the sdkOutput?", "POST", words.METHOD),
    Question("post_path", "Its path?", "/cards/{id}/provision", words.PATH),
    Question("sdk_output", 'Where does the sdkOutput stand in its body (a JSON pointer, or "raw")?', "/sdkOutput",
             words.PLACE),
    Question("post_sdk_input", 'Where does the sdkInput stand in its answer (a JSON pointer, or "raw")?', "/sdkInput",
             words.PLACE),
    Question("encoding", "On platform B, does the app get the API's base64 text, or the bytes themselves (base64 or "
             "bytes)?", "base64", words.one_of("base64", "bytes"),
             lambda got: got["platforms"] != "A" and {got["get_sdk_input"], got["post_sdk_input"], got["sdk_output"]}
             == {"raw"}),
    Question("cards", "Payment instrument ids of a test cardholder's cards, as your back end knows them, with commas "
             "between?", CARDS, CARD_LIST),
    Question("header", "Which header presents the cardholder's session (none for no session)?", "authorization",
             HEADER_OR_NONE),
    Question("prefix", "What stands before the session in it, such as Bearer?", "Bearer", ANY_PREFIX,
             lambda got: got["header"] != "none"),
    Question("variable", "Which environment variable will hold the session?", "CARDHOLDER_SESSION", words.VARIABLE,
             lambda got: got["header"] != "none"),
    Question("url_name", "Under which name does your back end take the API's address?", "API_URL", words.VARIABLE),
    Question("key_name", "And its key?", "API_KEY", words.VARIABLE),
    Question("command", "A command that starts your back end (empty: you start it yourself)?", "", LINE),
)  # fmt: skip


def usual() -> dict[str, str]:
    """The answers where nobody is asked."""
    return dict(_usual())


def _usual() -> Iterator[tuple[str, str]]:
    for question in QUESTIONS:
        yield question.key, question.usual


def asked(ask: Callable[[str], str], tell: Callable[[str], object]) -> dict[str, str]:
    """The answers of a person; a wrong one is explained, and asked for again.

    Args:
        ask: shows a prompt and returns the answer.
        tell: shows a line.
    """
    answers = usual()
    for question in QUESTIONS:
        if question.when(answers):
            answers[question.key] = _answered(question, ask, tell)
    return answers


def _answered(question: Question, ask: Callable[[str], str], tell: Callable[[str], object]) -> str:
    usual_words = f" [{question.usual}]" if question.usual else ""
    while True:
        answer = ask(f"{question.asks}{usual_words} ").strip() or question.usual
        if question.word.fits(answer):
            return answer
        tell(f"  {question.word.refusal(answer)}")
