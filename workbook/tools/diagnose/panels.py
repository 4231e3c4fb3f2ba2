"""Two panels to paste into, which say what a symptom or a value means; and a player of the catalogue's rows.

A symptom or a log leads to its causes; an opaque value to its layers. Nothing that is pasted is stored or sent.
"""

import os
from pathlib import Path
from typing import Any

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.files import explain_failure, read_regular, sample
from workbook.base.secrecy import Secrets
from workbook.base.values import flag, of_type, whole
from workbook.checks import diagnosis
from workbook.checks.diagnosis import CatalogueRow, Diagnosis
from workbook.errors import ParameterError
from workbook.lessons.exercises.judges_incidents import play_row
from workbook.lessons.run import Run
from workbook.lessons.session import session
from workbook.lessons.tools import tool
from workbook.lessons.widgets.chooser import Paste, dropdown
from workbook.tools.diagnose import inspector
from workbook.tools.diagnose.inspector import Inspection
from workbook.tools.harness.output import Result
from workbook.views.html import join, tag, trust, unbroken
from workbook.views.table import EDGE, Snapshot, copyable, facts, paragraph, preformat


class DiagnosisPanel(Paste):
    """A symptom, and what it points to."""

    verb = "Diagnose"
    ask = (
        "What do you see? Paste a code, an outcome's name, an error body, a sentence, or a log from the tap on. Or "
        "choose: the platform, the last step that worked, and what you see."
    )

    @property
    def found(self) -> Diagnosis:
        """What the text points to.

        Raises:
            ParameterError: nothing was given yet.
        """
        return diagnosis.diagnose(self._value)

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of the rows that fit, those with evidence first: at most five; none if the text fits no row."""
        return tuple(one.row.number for one in self.found.likely)

    def message(self, row: int | None = None) -> str:
        """The message to send to whoever has to act, with what they need; empty if you do.

        Args:
            row: the number of the row; None takes the one that the evidence decides for.

        Raises:
            ParameterError: there is no such row, or no evidence decides and no row was named.
        """
        return self.found.message(self._row(row))

    def reproduce(self, row: int | None = None) -> Any:
        """Play the row, as `workbook diagnose --reproduce` does.

        Args:
            row: its number; None takes the one that the evidence decides for.

        Raises:
            ParameterError: there is no such row, or no software can play it.
        """
        return reproduce(self._row(row).number)

    def read(self) -> Snapshot:
        """How sure it is, each row that is decided on with the message to send, the other rows, and the question."""
        found, scrub = self.found, Secrets.of_environment(os.environ).scrub
        parts = [paragraph(scrub(found.level))]
        for likely in found.decided:
            rows = [(name, scrub(words)) for name, words in found.described(likely)]
            card = [trust(facts(likely.row.title, rows).html())]
            if message := found.message(likely.row):
                card.append(copyable(scrub(message)))
            style = f"border:{EDGE};border-radius:6px;padding:0.6em;margin:0.5em 0"
            parts.append(tag("div", *card, class_="wb-card", style=style))
        if others := found.likely[len(found.decided) :]:
            rows = [(one.row.title, f"you see that {one.row.sign} ({scrub(found.explain(one))})") for one in others]
            parts.append(trust(facts("Also possible" if found.decided else "Rows with your words", rows).html()))
        parts += [paragraph(found.question)] if found.question else []
        return Snapshot(scrub(str(found)), join(tag("div", *parts)))

    def make_widget(self) -> Any:
        """The field, the result, and the three questions for who has no text."""
        box = super().make_widget()
        field, button, *result = box.children
        platform, step, seen = (dropdown(name, ()) for name in ("platform", "the last step that worked", "seen"))

        def on_platform(_change: object) -> None:
            step.options = [(name, name) for name in diagnosis.triage(platform.value)] if platform.value else []
            step.value, step.disabled = None, not step.options

        def on_step(_change: object) -> None:
            rows = diagnosis.triage(platform.value)[step.value] if step.value else ()
            seen.options = [(one.sign, one.number) for one in rows]
            seen.value, seen.disabled = None, not rows

        def on_seen(change: Any) -> None:
            if change["new"]:
                field.value = f"row {change['new']}"
                button.click()

        for choice, on_change in ((platform, on_platform), (step, on_step), (seen, on_seen)):
            choice.observe(on_change, "value")
        platform.options = [*diagnosis.PLATFORMS]
        platform.value, step.disabled, seen.disabled = None, True, True
        box.children = (field, button, *result, platform, step, seen)
        return box

    def _row(self, number: int | None) -> CatalogueRow:
        if number is not None:
            return diagnosis.row(number)
        if not self.found.decided:
            raise ParameterError(f"No evidence decides for a row: name one, from 1 to {len(diagnosis.catalogue())}.")
        return self.found.decided[0].row


def diagnose(symptom: str | Path | Run = "") -> DiagnosisPanel:
    """A panel that finds the causes of what you see, whose job each is, and the message to send.

    Codes, names and lines of a log decide. Words lead to a list of rows with a question, and decide nothing.

    Live, it has a field to paste into; what is pasted is neither stored nor sent.

    Args:
        symptom: a code, an outcome's name, an error body, a sentence or a log; the `Path` of a log file; a run, whose
            findings and trace are read; or the number of a row.

    Returns:
        The panel: it shows itself, and has `rows`, `message()`, `reproduce()` and `found`.

    Raises:
        ConfigurationError: the file cannot be read.
        ParameterError: the run has no finding.

    Example:
        >>> wb.diagnose("provision failed, status 15009").rows
        (15,)
    """
    match symptom:
        case Path():
            with explain_failure(f"Cannot read {str(symptom)!r}", "Name a log file."):
                text = read_regular(symptom, diagnosis.LARGEST_LOG).decode("utf-8", "replace")
        case Run(findings=()):
            raise ParameterError(f"Nothing is wrong in this run: it has no finding, and ended as {symptom.state!r}.")
        case Run():
            text = "\n".join(
                [*(f"{one.level} {one.rule} {one.text}" for one in symptom.findings), symptom.trace.to_jsonl()]
            )
        case _:
            of_type("symptom", symptom, str, "a text, a Path or a run, such as '15009'")
            text = symptom
    return DiagnosisPanel(text)


class InspectionPanel(Paste):
    """An opaque value, and what it is."""

    verb = "Inspect"
    ask = "Paste an sdkInput or sdkOutput, or the JSON body around it."
    option = "show the values that are no card data"

    def __init__(self, value: str | bytes, seed: int, *, show: bool) -> None:
        super().__init__(value, ticked=show)
        self.seed = seed

    @property
    def found(self) -> Inspection:
        """What the value is.

        Raises:
            ParameterError: nothing was given yet.
        """
        return inspector.inspect(self._value, show=self._ticked, seed=self.seed)

    def read(self) -> Snapshot:
        """What it is, each wrong layer, who takes it, the fields and the seal."""
        found, scrub = self.found, Secrets.of_environment(os.environ).scrub
        text = scrub(str(found))
        told = "\n".join(line for line in text.splitlines() if line.startswith(("who takes it", "seal ", "wrong seal")))
        inside = preformat("\n".join(f"{name}: {scrub(value)}" for name, value in found.fields.items()))
        for words, wrong in reversed(found.layers):
            edge = "var(--jp-error-color1, #b3261e)" if wrong else "var(--jp-border-color1, #8b95a3)"
            style = f"border:{3 if wrong else 1}px solid {edge};border-radius:6px;padding:0.2em 0.6em;margin:0.3em 0"
            inside = tag("div", tag("b", "✗ ") if wrong else "", unbroken(words), inside, style=style)
        return Snapshot(text, join(paragraph(f"{found.length} bytes, from the outside in:"), inside, preformat(told)))


def inspect(value: str | bytes = "", *, show: bool = False, seed: int = 7) -> InspectionPanel:
    """A panel that says what an sdkInput or sdkOutput is, which layer is wrong and where, and which platform takes it.

    Live, it has a field to paste into; what is pasted is neither stored nor sent. Of the fields inside it shows names,
    kinds and lengths: the values are card data (REL-3).

    Args:
        value: the text, platform B's bytes, or the JSON body around it.
        show: also the values of the fields that hold no card data.
        seed: of the simulator, for data that it made.

    Returns:
        The panel: it shows itself, and has `found`.

    Example:
        >>> wb.inspect(wb.session().activation_data()).found.is_good
        True
    """
    if isinstance(value, SdkInput | SdkOutput):
        value = value.text
    of_type("value", value, str | bytes, "the text, or platform B's bytes")
    flag("show", show)
    whole("seed", seed, least=0, most=2**32 - 1)
    return InspectionPanel(value, seed, show=show)


def reproduce(number: int) -> Run | Result:
    """Play the row with this number: as a run, or as a judged project with the mistake.

    Everything is as it should be, but for the row's cause.

    Raises:
        ParameterError: there is no such row, or no software can play it.
    """
    found = diagnosis.row(number)
    if not found.play:
        can = ", ".join(str(one) for one in sorted(row.number for row in diagnosis.catalogue() if row.play))
        raise ParameterError(f"Row {number} cannot be played: no software here can cause it. These rows can: {can}.")
    verb, *settings = found.play
    if verb == "project":
        return _mistaken(*settings)
    run: Run = play_row(found, session())
    return run


def _mistaken(name: str, file: str, old: str, new: str) -> Result:
    """A sample project with one edit."""
    files = tool("texts_of")(sample(f"projects/{name}"))
    judged: Result = tool("project")(files | {file: files[file].replace(old, new)})
    return judged
