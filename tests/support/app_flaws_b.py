"""What each case of platform B is there to find: mistakes of `swift/Flawed.swift`, and how the advice begins."""

from workbook.tools.conform.app.phone import WRONG_ANSWERS

SLUGS = [name.lower().replace(" ", "-") for name in WRONG_ANSWERS]

# By mistake: how the first advice about it begins, and the cases that find it.
FLAWS_B: dict[str, tuple[str, ...]] = {
    # the app
    "is never shown": (
        "Show the button when canAddCard is true, and only",
        "screen.shown-when-possible",
        "recovery.offered-after-get-failure",
    ),
    "is always shown": (
        "Show the button when canAddCard is true, and only",
        "screen.hidden-when-in-wallet",
        "screen.hidden-after-success",
    ),
    "is shown while asking": (
        "Show the button when canAddCard is true, and only",
        "screen.not-shown-while-asking",
    ),
    "is shown after a failure": (
        "Show the button when canAddCard is true, and only",
        "screen.hidden-without-wallet",
        *(f"faults.get-{slug}" for slug in SLUGS),
    ),
    "is shown after a success": (
        "Ask canAddCard once more at the end",
        "screen.hidden-after-success",
    ),
    "ignores the watch": (
        "Ask WatchAvailability.activate() first, and pass",
        "screen.offered-for-the-watch",
        "form.watch-as-heard",
    ),
    "asks no watch": (
        "Ask WatchAvailability.activate() first, and pass",
        "form.watch-as-heard",
    ),
    "makes a watch for each page": (
        "Make one WatchAvailability where the app starts,",
        "form.one-watch-availability",
    ),
    "makes the service of text": (
        "JSON has base64 text and the SDK has bytes",
        "form.one-get-before-service",
    ),
    "starts by itself": (
        "Begin it in the tap",
        "form.nothing-before-tap",
    ),
    "never starts": (
        "Begin the attempt when Add is tapped",
        "form.adds-the-card",
    ),
    "encodes twice": ("Encode sdkOutput once", "fidelity.output-unchanged", "request.output-unchanged"),
    "decodes nothing": (
        "JSON has base64 text and the SDK has bytes",
        "fidelity.input-unchanged",
        "request.input-unchanged",
    ),
    "reads JSON by hand": (
        "Read and write JSON with a library",
        "fidelity.json-escaped",
    ),
    "has no guard": (
        "Disable the button in the tap itself",
        "concurrency.disabled-at-once",
        "concurrency.quick-taps",
        "concurrency.taps-during-attempt",
    ),
    "stays enabled": (
        "Disable the button in the tap itself, before",
        "concurrency.disabled-in-the-wallet",
    ),
    "asks twice": (
        "The GET and the SDK's client belong to the opening of a page",
        "concurrency.one-get-a-page",
    ),
    "stays disabled": (
        "Show the button enabled again after any Failure",
        "recovery.enabled-after-failure",
        "recovery.adds-after-failure",
    ),
    "stays disabled after a cancel": (
        "Show the button enabled again after any Failure",
        "recovery.enabled-after-cancel",
    ),
    "waits for an error": (
        "Show the button enabled again after any Failure",
        "recovery.enabled-after-neither",
    ),
    "stays disabled when start throws": (
        "Show the button enabled again after any Failure",
        "recovery.enabled-after-start-threw",
    ),
    "returns empty data": (
        "Return nil",
        *(f"faults.post-{slug}" for slug in SLUGS),
        *(f"request.nil-after-{slug}" for slug in SLUGS),
    ),
    "offers nothing after a failure": (
        "Show the button when canAddCard is true, and only",
        "recovery.offered-after-get-failure",
    ),
    "repeats the POST": (
        "Turn repeats off in your HTTP library for this",
        "recovery.post-not-repeated",
        "request.nil-after-connection-cut",
    ),
    "logs sdkInput": (
        "Log where a value came from and its length, never",
        "secrecy.no-sdk-input-in-log",
        "secrecy.no-value-in-the-extensions-log",
    ),
    "logs the decoded sdkInput": (
        "Log where a value came from and its length, never",
        "secrecy.no-sdk-input-in-log",
        "secrecy.no-value-in-the-extensions-log",
    ),
    "logs sdkOutput": (
        "Log where a value came from and its length, never",
        "secrecy.no-sdk-output-in-log",
        "secrecy.no-value-in-the-extensions-log",
    ),
    "logs the session": (
        "Log where a value came from",
        "secrecy.no-session-in-log",
        "secrecy.no-session-in-the-extensions-log",
    ),
    "logs a failed sdkOutput": (
        "Log where a value came from and its length, never",
        "secrecy.no-value-in-log-after-failure",
    ),
    "sends the key": (
        "Keep the key on your back end",
        "secrecy.back-end-only",
        "secrecy.back-end-only-in-the-extension",
    ),
    "calls the API": (
        "Only your back end calls the HTTP API",
        "secrecy.back-end-only",
    ),
    "keeps the sdkInput": (
        "Fetch activation data each time the page opens,",
        "life.closed-and-opened",
    ),
    "stops in the background": (
        "Leave the attempt alone while the app is in the",
        "life.background-during-attempt",
    ),
    "leaves a lock": (
        "Begin anew after the end of the process",
        "life.process-death",
    ),
    "posts for the first card": (
        "Send it for the paymentInstrumentId that the SDK",
        "isolation.second-card",
        "request.second-card",
    ),
    "has no time limit": (
        "Return from each function, whatever fails",
        "faults.post-never-answered",
        "entries.back-end-slow",
        "request.back-end-slow",
    ),
    "says nothing": (
        "Show 'Added to Wallet' when a pass has come",
        "screen.says-added",
    ),
    "tells a cancel": (
        "Tell Canceled or userCancelled from the other",
        "screen.cancel-is-no-failure",
    ),
    "tells no failure": (
        "Say that the card was not added",
        "screen.failure-told",
    ),
    "tells the error": (
        "Say what the cardholder can do, in words of",
        "screen.nothing-technical",
    ),
    "takes each end for a success": (
        "Say after a failure that nothing was added, and",
        "screen.failure-told",
        "recovery.enabled-after-failure",
    ),
    "hides the GET's failure": (
        "Say that the card cannot be added now, and offer",
        "screen.get-failure-told",
    ),
    "blocks the main thread": (
        "Nothing may wait on the main thread",
        "screen.not-shown-while-asking",
    ),
    "takes any answer": (
        "JSON has base64 text and the SDK has bytes",
        "faults.get-500",
        "request.nil-after-500",
        "form.one-get-before-service",
    ),
    "is shown before the answer": (
        "Show the button when canAddCard is true, and only",
        "screen.not-shown-before-the-answer",
    ),
    "takes each watch for active": (
        "Ask WatchAvailability.activate() first, and pass",
        "form.watch-as-heard",
    ),
    "signs out nowhere": (
        "At a sign-out forget the session",
        "life.sign-out",
        "entries.none-after-sign-out",
    ),
    "leaves the cards": (
        "At a sign-out forget the session",
        "entries.none-after-sign-out",
    ),
    "leaves the session": (
        "At a sign-out forget the session",
        "entries.none-after-sign-out",
    ),
    # the extension
    "asks one by one": ("Give each call of your back end a time limit", "entries.back-end-slow"),
    "forces the picture": ("Nothing may end or block the process", "entries.get-of-another-card"),
    "requests with what was saved": ("Fetch each card's sdkInput afresh here", "request.made-when-expired"),
    "completes nothing": ("Return from each function, whatever fails", "request.nil-when-nothing-works"),
    "hides after a success": ("Ask canAddCard once more at the end", "screen.offered-for-the-watch-after-success"),
    "asks for no authentication": (
        "Return extensionStatus(requires",
        "status.asks-for-authentication",
    ),
    "keeps the request's service": (
        "Make the SDK's service anew in each function,",
        "entries.initialised-in-each-call",
    ),
    "saves nothing": (
        "Nothing is saved where the extension can read",
        "status.available-once-saved",
        "status.available-without-the-app",
    ),
    "is never available": ("Read what the app saved, make", "status.available-once-saved", "status.twice-at-once"),
    "is always available": (
        "Return entriesUnavailableExtensionStatus when no",
        "status.unavailable-without-card",
        "status.unavailable-when-refused",
    ),
    "forces what was saved": (
        "Nothing may end or block the process",
        "status.unavailable-when-damaged",
        "entries.none-without-card",
        "request.nil-without-card",
    ),
    "forces the service": (
        "Nothing may end or block the process",
        "status.unavailable-when-refused",
    ),
    "takes all or nothing": (
        "Leave out what the SDK refuses",
        "status.available-when-partly-usable",
    ),
    "fetches in status": (
        "Use what the app saved; refresh it in",
        "status.no-network",
    ),
    "is slow": ("Do less in it", "status.cold-within-100-ms", "status.warm-within-100-ms"),
    "takes turns": (
        "Let no call of the extension lock out another",
        "status.twice-at-once",
    ),
    "knows one card": ("Return passEntries(withDelegate:) of a service", "entries.phone-list", "entries.watch-list"),
    "lists the phone's for the watch": (
        "remotePassEntries() of the handler returns",
        "entries.watch-list",
    ),
    "lists once": (
        "Return passEntries(withDelegate:) of a service",
        "entries.twice",
    ),
    "keeps the service": (
        "Make the SDK's service anew in each function,",
        "entries.initialised-in-each-call",
    ),
    "lists what expired": (
        "Fetch each card's sdkInput afresh",
        "entries.refreshed-when-expired",
    ),
    "forces each GET": ("Nothing may end or block the process", "entries.back-end-down", "entries.back-end-cut"),
    "goes on afterwards": (
        "Await all of it before you return, or leave it out",
        "entries.nothing-afterwards",
    ),
    "shows one picture": (
        "Return the picture of the card that the SDK",
        "art.of-the-card",
    ),
    "saves no session": (
        "Send the session that conform gives your app",
        "entries.phone-list",
        "request.made",
    ),
    "needs the list's service": (
        "Make the SDK's service anew in each function",
        "request.made",
        "request.second-card",
    ),
    "hands on an old answer": (
        "Make a POST for each sdkOutput",
        "screen.failure-told",
    ),
    "makes no request": (
        "Make the SDK's service anew in each function",
        "request.made",
        "request.in-one-process",
    ),
    "reverses the chain": (
        "Hand on what the wallet gave, each argument at",
        "request.handed-on-unchanged",
    ),
    "hands on the leaf": (
        "Hand on what the wallet gave, each argument at",
        "request.handed-on-unchanged",
    ),
    "swaps nonce and signature": (
        "Hand on what the wallet gave, each argument at",
        "request.handed-on-unchanged",
    ),
    "makes a configuration": (
        "Hand on what the wallet gave, each argument at",
        "request.handed-on-unchanged",
    ),
    "requests the first card": (
        "Return what the SDK's operation of the same name",
        "request.second-card",
    ),
    "forces the request": (
        "Nothing may end or block the process",
        "request.nil-when-the-sdk-throws",
    ),
    "looks the card up by force": (
        "Nothing may end or block the process",
        "request.nil-for-an-unknown-card",
    ),
    "completes twice": (
        "Call each completion once",
        "status.unavailable-without-card",
    ),
    "never completes": (
        "status() has 100 ms",
        "status.unavailable-without-card",
    ),
}
# A plain case of each part runs beside a mistake's own.
BASICS = ("form.one-get-before-service", "form.adds-the-card", "status.available-once-saved", "entries.phone-list",
          "request.made")  # fmt: skip
# What runs with each change; the others run at night.
DAILY = ("has no guard", "encodes twice", "returns empty data", "makes a watch for each page", "fetches in status",
         "lists the phone's for the watch", "keeps the service", "shows one picture", "swaps nonce and signature",
         "completes twice")  # fmt: skip
