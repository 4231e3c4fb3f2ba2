"""The page about the phone's protocol, made of the protocol itself."""

from __future__ import annotations

import inspect
import json

from workbook.app import protocol as p
from workbook.app.back_end import ANSWERS
from workbook.app.cases import APP_CASES
from workbook.files import NATIVE
from workbook.plays.platform_a import PHONES_A

HEAD = """\
# Your own app, and the phone that the workbook plays

Half of what you write runs on the phone. These three commands run it on a computer:

    workbook native kotlin DIR       # the SDK's stand-in: copy it into your test sources
    workbook phone                   # a phone for your unit tests, or for a debug build on an emulator
    workbook conform app app.toml    # {cases} cases: your app, judged as a cardholder meets it

Lesson 09 shows all of it. Nothing of this is the operator's. The names of operations and outcomes are the document's;
the package, the protocol and the values that the document does not show are ours.

## A unit test of yours

The stand-in finds the phone by two variables, `WORKBOOK_PHONE_URL` and `WORKBOOK_PHONE_KEY`, which `workbook phone`
prints. Or call `Workbook.connect(url, key)`. `Workbook.phone(name)` chooses the phone, `Workbook.backEnd(operation,
how)` what your back end does wrong; it is served at `Workbook.backEndUrl`. On an emulator,
`adb reverse tcp:PORT tcp:PORT` makes the same address work.

In a notebook, `session.platform_a.phone()` serves the same phone: `.settings` has the two variables, and its panels
show phone, messages and states while your test runs. When an app's process ends, the trace that `workbook phone --out
DIR` writes ends with what was under way.

Phones: {phones}.

What a back end does wrong: {answers}.

## `workbook conform app`

Write an adapter, `AppUnderTest`, of about 30 lines: it opens the card's page, taps Add, and tells what the page shows.
Each function returns when the app has taken the action in:

```kotlin
interface AppUnderTest {{
{adapter}
}}

enum class Button {{ ABSENT, SHOWN, DISABLED, HIDDEN }}
```

`wb.show(wb.sample("apps/Adapter.kt"))` shows a whole one. A test of yours then calls
`conform {{ backEnd, session -> YourApp(backEnd, session) }}`, and `app.toml` says how that test is started:

```toml
name = "our app"

[start]
command = "./gradlew test --tests ConformTest"

[get]                                   # the routes of your back end; these are those of the samples
path = "/cards/{{id}}/activation-data"

[post]
path = "/cards/{{id}}/provision"
sdk_output = "/sdkOutput"
```

Without a build tool, write `[kotlin]` instead of `[start]`. With the extra `[kotlin]` the workbook compiles the files,
together with the stand-in, and starts them; it downloads nothing. Coroutines are there; `libraries` adds jars of yours.

```toml
[kotlin]
sources = ["src"]                       # files and folders beside app.toml; "native/kotlin" is the reference app core
main = "com.example.AdapterKt"          # the class with `fun main() = conform {{ ... }}`
variant = "from-0.4.0"                  # of the SDK
```

In a notebook: `wb.conform("app.toml")`. The app presents the session that it is given as
`authorization: Bearer SESSION`. A line of your process's output counts as its log. Verdicts, baseline, reports and
exit codes are those of `workbook conform`; `--list` lists the cases.

## The protocol, version {version}

{about}

| call | what it is | fields | answer |
|---|---|---|---|
"""

PLATFORM_B = """
## Platform B: designed, not served yet

The same protocol carries platform B, with the document's names. In the app: `service` (sdkInput as base64),
`canAddCard`, `canAddCardDetails` (isWatchActivated), `activate`, `start`; the phone asks `provision` (sdkOutput, and
from the later variant on paymentInstrumentId), which the app answers with `sdkInput` or `nil`, and tells
`didFinishProvisioning`
(pass or error). In the extension, where each call is a new instance: the phone asks `status`, `passEntries`,
`remotePassEntries`, `cardArt`, `generateAddPaymentPassRequest` and `authorize`; the app calls `extensionService`
(sdkInputs), `extensionStatus` (requiresAuthentication) and the SDK's `passEntries`, `remotePassEntries` and `generate`.
`status` is given 100 ms and the entries 20 s of the phone's clock (X-STATUS-3, X-ENTRIES-3); what comes later counts as
none. The cases are those of platform A where the rules agree, and for the extension: listed in time, listed without a
network, unavailable when nothing is stored, the chosen entry found by a new instance, art for each card, nil and not a
crash when the back end fails, and a watch that has the card while the phone has not.
"""


def page() -> str:
    """The whole page."""
    head = HEAD.format(
        cases=len(APP_CASES),
        phones=", ".join(f"`{name}`" for name in PHONES_A),
        answers=", ".join(f"`{name}`" for name in ANSWERS),
        version=p.VERSION,
        adapter=_adapter(),
        about=(p.__doc__ or "").partition("\n\n")[2].strip(),
    )
    return head + "".join(map(_row, p.CALLS)) + _schema() + PLATFORM_B


def _adapter() -> str:
    """The functions of the adapter's interface, as the stand-in declares them."""
    text = (NATIVE / "kotlin/standin/Driving.kt").read_text("utf-8").partition("interface AppUnderTest {")[2]
    return "\n".join(line for line in text.partition("\n}")[0].splitlines() if line.strip().startswith("suspend"))


def _row(name: str) -> str:
    kind = p.CALLS[name]
    about = " ".join((inspect.getdoc(kind) or "").split())
    fields = ", ".join(f"`{field}`: {what}" for field, what in p.fields_of(name).items() if field != "client")
    return f"| `{name}` | {about} | {fields} | {kind.answer} |\n".replace("|  |", "| - |")


def _schema() -> str:
    example = json.dumps(p.schema()["opc"], indent=2)
    says = "Each call says which `client` it comes from. `workbook phone --schema` prints all as JSON Schema:"
    return f"\n{says}\n\n```json\n{example}\n```\n"
