"""The reference page of all symptoms, made from the catalogue: `notebooks/reference/symptoms.md`."""

from workbook.reading.diagnosis import catalogue

HEAD = """\
# Index of symptoms

What you see, what usually causes it, and whose job it is. The interface document says none of this, unless a rule
stands beside it (`workbook rules ID` prints it). The rest is from public sources: *openapi*, *sdk-a*, *sdk-b*,
*wallet*, *seen*. The last column names the lesson that plays it, or says why no software can.

**Whose job** means: *you* (app or back end), the *operator* of the API, the *wallet provider*, or the card *scheme*.

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
            (f'<a id="row-{one.number}"></a>{one.number}' if cause is one.causes[0] else str(one.number), cause)
            for one in catalogue()
            if one.section == section
            for cause in one.causes
        ]
        lines = [
            f"## {section}\n\n{UNDER.get(section, '')}| # | symptom | cause | whose job | see |",
            "|---|---|---|---|---|",
            *(
                f"| {number} | {one.symptom} | {one.cause} | {', '.join(one.owner)} | {one.see} |"
                for number, one in rows
            ),
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
