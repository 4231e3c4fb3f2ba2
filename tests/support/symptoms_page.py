"""The reference page of all symptoms, made from the catalogue: `notebooks/reference/symptoms.md`."""

from workbook.checks.diagnosis import catalogue

HEAD = """\
# Index of symptoms

What you see, what usually causes it, whose job it is, and how to make sure. Each cause and each check names its source:
a rule of the interface document (`workbook rules ID` prints it), or, where the document says nothing, a public source:
*openapi*, *sdk-a*, *sdk-b*, *wallet*, *seen*; *inferred* and *assumed* are ours. A rule beside a cause says what has to
be so; that its breach looks like this symptom is assumed, unless a source says it. The last column names the lesson
that plays it, or says why no software can.

**Whose job** means: *you* (app or back end), the *operator* of the API, the *wallet provider*, the card *scheme*, the
*issuer*, or nobody. A message to any of them is yours to write; `workbook diagnose` says to whom.

`workbook diagnose` takes what you see (a code, a sentence, a log) and finds the row; `--reproduce` plays it. A finding
names its symptom by this number, and `workbook diagnose 13` prints one. In a notebook `wb.diagnose()` is a panel to
paste into.
"""
UNDER = {
    "Platform B: the app, or its cards, are missing in the wallet": "The wallet shows no error for any of these.\n\n"
}


def symptoms_page() -> str:
    """The page `symptoms.md`."""
    parts = [HEAD]
    for section in dict.fromkeys(one.section for one in catalogue()):
        rows = [
            (f'<a id="row-{one.number}"></a>{one.number}', cause, one.check.replace("|", "\\|"))
            if cause is one.causes[0]
            else (str(one.number), cause, cause.check.replace("|", "\\|"))
            for one in catalogue()
            if one.section == section
            for cause in one.causes
        ]
        lines = [
            f"## {section}\n\n{UNDER.get(section, '')}| # | symptom | cause | whose job | make sure | see |",
            "|---|---|---|---|---|---|",
            *(
                f"| {number} | {cause.symptom} | {cause.cause} | {', '.join(cause.owner)} | {check} | {cause.see} |"
                for number, cause, check in rows
            ),
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
