"""The page about the phone's protocol, made of the protocol itself."""

from __future__ import annotations

import inspect
import json

from workbook.base.files import NATIVE
from workbook.simulation.phones import PHONES_A, PROVISION_FAILURES
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.cases import APP_CASES
from workbook.tools.conform.app.phone import WRONG_ANSWERS

HEAD = """\
# Your own app, and the phone that the workbook plays

Half of what you write runs on the phone. These three commands run it on a computer:

    workbook native kotlin DIR       # the SDK's stand-in: copy it into your test sources
    workbook phone                   # a phone for your unit tests, or for a debug build on an emulator
    workbook conform app app.toml    # {cases} cases: your app, judged as a cardholder meets it

Lesson 09 shows all of it. None of this is the operator's. The names of operations and outcomes are the document's;
the package, the protocol and the values that the document does not show are ours.

## A unit test of yours

The stand-in finds the phone by two variables, `WORKBOOK_PHONE_URL` and `WORKBOOK_PHONE_KEY`, which `workbook phone`
prints. Or call `Workbook.connect(url, key)`. `Workbook.phone(name)` chooses the phone. `Workbook.backEnd(operation,
how)` breaks the back end played at `Workbook.backEndUrl`. That one knows the simulated cards only, which are
printed as `WORKBOOK_PHONE_CARDS`: {cards}. On an emulator,
`adb reverse tcp:PORT tcp:PORT` makes the same address work.

In a notebook, `session.platform_a.serve_phone()` serves the same phone: `.settings` has the two variables, and its
panels show phone, messages and states while your test runs. If an app's process ends in mid-call, the trace of
`workbook phone --out DIR` shows it last.

In a Kotlin notebook of the same JupyterLab (the extra `[kotlin]` brings its kernel), cells call the stand-in, too:
`workbook native kotlin DIR --jar` compiles it with the reference app core, and prints the lines of the first cell.
The second calls `Workbook.connect(url, key)`; later ones use `CardProvisioning.create(...)` and the
package `issuer`. Nothing is downloaded. A stored cell would name a path and a key of one machine, so no lesson has one.

Phones: {phones}.

What a back end does wrong: {answers}.

## `workbook conform app`

Write an adapter, `AppUnderTest`, of about 30 lines: it opens the card's page, taps Add, and tells what the page shows.
Each function returns when the app received the action:

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
What your core keeps in a file, several `processes` share: leave that line out then.

```toml
[kotlin]
sources = ["src"]                       # files and folders beside app.toml; "native/kotlin" is the reference app core
main = "com.example.AdapterKt"          # the class with `fun main() = conform {{ ... }}`
variant = "from-0.4.0"                  # of the SDK
processes = 4                           # share the cases, so a run takes a third of the time; 1 without this line
```

`ProvisionResult.Failure.name` is one of these (*sdk-a*; the document shows none): {failures}. A cardholder who ends
the wallet's flow is `Canceled`; `OpcFetchError` is a `fetchOpc` that threw. Three cases read what your page says,
`Screen.message`. They are *not looked at* where the adapter hands none over.

A plain JVM has no `Dispatchers.Main`: give your core a dispatcher of one thread, as the sample has, or set it
with `kotlinx-coroutines-test`, one of your `libraries`. That thread is watched: where no function of the adapter is
answered for 3 s while the back end, the SDK or the wallet is held, something blocks it (`APP-7`). A rotation leaves
`CardProvisioning` as it is: a second GET or `create` warns, and fails where it harms an attempt (`APP-2`). After a
`Success` the page may hide its button at once, or ask `canProvision` again. For an SDK before 0.4.0 the sample
`apps/two_steps.toml` has the two steps of a tap.

A `path` that is left out is the one above, which the run says. Keys that are not here (`method`, `id`, `sdk_input`)
are those of a [back-end.toml](conform.md). In a notebook: `wb.conform_app("app.toml")`. The app sends its session in
`authorization: Bearer SESSION`. All output of your process counts as its log. Verdicts, baseline, reports and
exit codes are those of `workbook conform`, with `conform.sarif` for code hosts and `--format sarif` to print it;
`--list` lists the cases. A case that says *(assumed)* rests on a
practice rule (such as `APP-1`): it fails where a cardholder is harmed, and warns otherwise.

## The protocol, version {version}

{about}

| call | what it is | fields | answer |
|---|---|---|---|
"""

PLATFORM_B = """
## Platform B: designed, not served yet

The same protocol carries platform B, with the document's names and bytes as base64. `hello` says platform `B`, and
which process it is: the `app`, the `extension` or the `authorization` extension, which share one phone.

| who calls | message | fields | answer |
|---|---|---|---|
| app | `service` | `sdkInput` | `service`, a number; or that the initializer threw (*inferred*) |
| app | `canAddCard`, earlier variant | `service` | a boolean |
| app | `activate`; `canAddCardDetails`, later variant | `service`, `isWatchActivated` | a boolean; `canAddCard` |
| app | `start` | `service` | ask `provision`, then ask `didFinishProvisioning`; or that it threw |
| phone | ask `provision` | `sdkOutput`, later variant also `paymentInstrumentId` | `sdkInput`, or nil |
| phone | ask `didFinishProvisioning` | `pass`, `error`: each present or not | nothing |
| phone | ask `status`, `passEntries`, `remotePassEntries` | `instance`, new each time | what the SDK's call gave |
| extension | `extensionService` | `sdkInputs` | `service`, a number; or that the initializer threw |
| extension | `extensionStatus`, `entriesUnavailableExtensionStatus` | `requiresAuthentication` | the status |
| extension | `passEntries`, `remotePassEntries` | `service` | entries, each with `identifier` |
| phone | ask `cardArt` | `brand`, or `paymentInstrumentId` | whether there was an image, and its digest |
| phone | ask `authorize` | - | `authorized` or `canceled`, once |
| phone | ask `generate` | `identifier` and the four values of X-GEN-1 | what the SDK's `generate` gave, or nil |

`status` is given 100 ms and the entries 20 s of the phone's clock (X-STATUS-3, X-ENTRIES-3); an answer that comes later
counts as none. `next` gains `openWallet`, `chooseEntry`, `pairWatch`, `openWatch`, `signOut` and `lockPhone`. The cases
of platform A hold where the rules agree. These come with platform B:

| case | what must happen | rule |
|---|---|---|
| `app.form.bytes` | the SDK gets the bytes of the back end's base64, decoded once | API-8 |
| `app.form.nil-not-crash` | a failure of the back end ends in nil, and in *Not added* | B-DEL-3, B-FIN-1 |
| `app.form.start-throws` | when `start` throws, the button can be pressed again | B-START-1 |
| `app.watch.one-instance` | one `WatchAvailability` in the app's life | B-WATCH-2 |
| `app.watch.still-offered` | the phone has the card, the watch has not: the button stays (assumed) | B-CAN-2 |
| `extension.status.in-time` | an answer within 100 ms, also when the back end is slow | X-STATUS-3 |
| `extension.status.no-network` | no request during `status` | X-STATUS-3 |
| `extension.status.nothing-stored` | `entriesUnavailableExtensionStatus` before the app was opened | X-STATUS-2 |
| `extension.status.authentication` | true where there is an authorization extension | X-STATUS-1 |
| `extension.entries.one-bad` | an sdkInput that the SDK refuses does not spoil the list | X-INIT-1 |
| `extension.entries.slow-card` | a card whose GET is late is left out, the list comes within 20 s | X-ENTRIES-3 |
| `extension.entries.watch` | `remotePassEntries` lists what the watch lacks | X-ENTRIES-2 |
| `extension.entries.art` | each card has its own picture | X-ART-1 |
| `extension.add.new-instance` | the entry is found by a handler that has listed nothing | X-HANDLER-1 |
| `extension.add.arguments` | the SDK gets identifier, configuration, chain, nonce and signature unchanged | X-GEN-1 |
| `extension.add.throws` | nil where the SDK throws, and no crash | X-GEN-1 |
| `extension.authorization.once` | one result, also when the cardholder goes away (assumed) | X-AUTH-1 |
| `extension.secrecy.store` | no API key in what app and extension share | API-13, X-CACHE-1 |
"""


def page() -> str:
    """The whole page."""
    head = HEAD.format(
        cases=len(APP_CASES),
        cards=", ".join(f"`{card}`" for card in INSTRUMENT_IDS),
        phones=", ".join(f"`{name}`" for name in PHONES_A),
        answers=", ".join(f"`{name}`" for name in WRONG_ANSWERS),
        version=p.PROTOCOL_VERSION,
        adapter=_adapter(),
        failures=", ".join(f"`{name}`" for name in PROVISION_FAILURES),
        about=(p.__doc__ or "").partition("\n\n")[2].strip(),
    )
    return head + "".join(map(_row, p.PHONE_CALLS)) + _schema() + PLATFORM_B


def _adapter() -> str:
    """The functions of the adapter's interface, as the stand-in declares them."""
    text = (NATIVE / "kotlin/standin/Driving.kt").read_text("utf-8").partition("interface AppUnderTest {")[2]
    return "\n".join(line for line in text.partition("\n}")[0].splitlines() if line.strip().startswith("suspend"))


def _row(name: str) -> str:
    kind = p.PHONE_CALLS[name]
    about = " ".join((inspect.getdoc(kind) or "").split())
    fields = ", ".join(f"`{field}`: {what}" for field, what in p.fields_of(name).items() if field != "client")
    return f"| `{name}` | {about} | {fields} | {kind.answer} |\n".replace("|  |", "| - |")


def _schema() -> str:
    example = json.dumps(p.schema()["opc"], indent=2)
    says = "Each call names its `client`. `workbook phone --schema` prints all as JSON Schema; this is one:"
    return f"\n{says}\n\n```json\n{example}\n```\n"
