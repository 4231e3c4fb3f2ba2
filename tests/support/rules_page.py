"""The reference page of all rules and gaps, made from the ledger: `notebooks/reference/rules.md`."""

from workbook.base.rules import Basis, Level, rules

HEAD = """# The rules and the gaps

Everything in this workbook rests on these {count} rules. They say, in words of our own, what the interface document
says, what it leaves open, and what good practice is. The page is made from the ledger (`WORKBOOK_GOLDEN=write` writes
it anew); `workbook rules X-AUTH-2` prints one rule, and `wb.rule("X-AUTH-2")` shows it in a notebook.
"""

LEVELS = {
    Level.MUST: "the document demands it, or defines an operation so",
    Level.SHOULD: "the document advises it, or names a likely consequence",
    Level.FACT: "a value or a name that has to be right wherever it is shown",
    Level.PRACTICE: "the document does not say it; a back end or an app without it is wrong all the same",
    f"{Level.PRACTICE}, harm": "the same, and a breach hurts a cardholder or gives a secret away",
    Level.GAP: "the document does not show it: what we do here is our assumption",
}

TAGS = """
## The tags

What is in no rule has a tag that says where it is known from:

| tag | meaning |
|---|---|
"""


def page():
    """The whole page as Markdown: levels, the document's sections, gaps, practices, tags."""
    by_place = {}
    for rule in rules():
        by_place.setdefault(place(rule), []).append(rule)
    blocks = [HEAD.format(count=len(rules())), "| level | means |\n|---|---|"]
    blocks += [f"| {name} | {meaning} |" for name, meaning in LEVELS.items()]
    for title, found in by_place.items():
        blocks.append(f"\n## {title}\n\n| rule | level | it says |\n|---|---|---|")
        blocks += [f'| <a id="{rule.id}"></a>`{rule.id}` | {level(rule)} | {cell(rule)} |' for rule in found]
    blocks.append(TAGS.rstrip("\n"))
    blocks += [f"| *{basis}* | {basis.meaning} |" for basis in Basis]
    return "\n".join(blocks) + "\n"


def place(rule):
    """The heading under which a rule stands."""
    match rule.level:
        case Level.GAP:
            return "What the document does not show"
        case Level.PRACTICE:
            return "Practice: not in the document"
    return rule.section


def cell(rule):
    """A rule's text in a table's cell; a placeholder in angle brackets would be taken for HTML."""
    text = rule.text.replace("|", "\\|").replace("<", "&lt;")
    if rule.level is Level.GAP:
        return f"{text} (section *{rule.section}*)"
    return text


def level(rule):
    """A rule's level, as the first table names it."""
    return f"{rule.level}, harm" if rule.harm else rule.level
