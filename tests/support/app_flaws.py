"""Each case with the mistakes that it is there for; `kotlin/FlawedApp.kt` makes them."""

from pydantic.alias_generators import to_snake

from workbook.simulation.phones import CAN_PROVISION_FAILURES

CHANGES = "wrapped", "trimmed", "decoded-as-form", "url-safe"

FLAWS = {
    "app.screen.shown-when-possible": ["never-shown"],
    "app.screen.hidden-when-in-wallet": ["shown-in-wallet"],
    **{
        f"app.screen.hidden-on-{to_snake(name).replace('_', '-')}": [f"shown-on-{name}"]
        for name in CAN_PROVISION_FAILURES
    },
    "app.screen.not-shown-while-asking": ["shown-at-once", "shown-while-asking", "blocks", "blocks-asking"],
    "app.screen.hidden-without-wallet": ["shown-without-wallet"],
    "app.screen.hidden-on-invalid-sdk-input": ["shown-without-wallet", "crashes-without-client"],
    "app.screen.hidden-after-success": ["offered-after-success"],
    "app.screen.offered-while-possible": ["hidden-after-success"],
    "app.screen.reported": ["not-reported"],
    "app.screen.not-reported-when-opened": ["reports-each-offer"],
    "app.screen.not-reported-when-added": ["reports-each-offer", "reports-each-success"],
    "app.screen.cancel-is-no-failure": ["cancel-as-failure"],
    "app.screen.failure-told": ["opc-reused", "failure-untold", "failure-as-success"],
    "app.screen.nothing-technical": ["failure-name-shown"],
    "app.screen.get-failure-told": ["get-failure-untold"],
    "app.form.one-get-before-create": ["no-session", *(f"input-{how}" for how in CHANGES)],
    "app.form.nothing-before-tap": ["provisions-on-open"],
    "app.form.adds-the-card": ["opc-swallowed", "never-shown", "provisions-twice"],
    "app.form.activity": ["old-activity"],
    "app.form.migrated": ["not-migrated"],
    "app.fidelity.output-unchanged": [f"output-{how}" for how in CHANGES],
    "app.fidelity.json-escaped": ["output-unescaped"],
    "app.fidelity.opc-unchanged": [f"opc-{how}" for how in CHANGES],
    "app.concurrency.disabled-at-once": ["never-disabled", "blocks"],
    "app.concurrency.disabled-in-the-wallet": ["enabled-early"],
    "app.concurrency.quick-taps": ["disabled-late"],
    "app.concurrency.taps-during-attempt": ["never-disabled"],
    "app.concurrency.one-get-a-page": ["gets-twice"],
    "app.recovery.enabled-after-failure": ["gives-up", "provisions-again"],
    "app.recovery.enabled-after-cancel": ["gives-up-on-cancel"],
    "app.recovery.adds-after-failure": ["once-only"],
    "app.recovery.offered-after-get-failure": ["failure-remembered", "uncaught"],
    "app.recovery.post-not-repeated": ["retried"],
    "app.secrecy.no-sdk-input-in-log": ["input-logged", "decoded-logged"],
    "app.secrecy.no-sdk-output-in-log": ["output-logged"],
    "app.secrecy.no-session-in-log": ["session-logged"],
    "app.secrecy.no-value-in-log-after-failure": ["output-logged-on-failure"],
    "app.secrecy.back-end-only": ["calls-api", "key-in-app"],
    "app.life.rotation": ["rotation-empties", "rotation-asks-again"],
    "app.life.rotation-during-attempt": ["rotation-enables", "rotation-asks-again", "rotation-forgets"],
    "app.life.closed-and-opened": ["cached"],
    "app.life.sign-out": ["signs-out-nowhere"],
    "app.life.closed-during-attempt": ["not-cancelled"],
    "app.life.process-death": ["attempt-remembered"],
    "app.isolation.second-card": ["first-card", "starts-as-before"],
    **{
        f"app.faults.{call}-{answer}": ["any-status"]
        for call in ("post", "get")
        for answer in ("401", "403", "404", "500", "502", "503")
        if (call, answer) != ("post", "401")
    },
    "app.faults.post-500": ["any-status", "gives-up-without-opc"],
    "app.faults.post-503": ["any-status", "retried"],
    **{
        f"app.faults.{call}-{answer}": ["any-body"]
        for call in ("post", "get")
        for answer in ("empty-body", "no-sdkinput", "no-json")
    },
    "app.faults.post-never-answered": ["waits-for-ever", "retried"],
    "app.faults.get-never-answered": ["waits-for-ever"],
    **{f"app.faults.{call}-sdkinput-null": ["null-as-text"] for call in ("post", "get")},
    **{f"app.faults.{call}-sdkinput-empty": ["empty-accepted"] for call in ("post", "get")},
}
"""The names of flaws, by case. A case that is missing has a reason in `test_kill_matrix.py`."""

CAUSES = {
    "blocks": "Nothing may wait on the main thread",
    "blocks-asking": "Nothing may wait on the main thread",
    "provisions-twice": "Begin one attempt for each tap",
    "provisions-again": "Begin one attempt for each tap",
    "rotation-asks-again": "The GET and the SDK's client belong to the opening",
    "rotation-forgets": "Leave the attempt alone on a rotation",
    "rotation-enables": "Leave the attempt alone on a rotation",
    "gives-up": "Show the button enabled again",
    "provisions-on-open": "Begin it in the tap",
    "failure-as-success": "Say after a failure that nothing",
    "starts-as-before": "Begin each page with a state of its own",
    "crashes-without-client": "It ends the app",
    "retried": "Turn repeats off",
    "no-session": "Send the session that conform gives your app",
    "opc-reused": "Make a POST for each sdkOutput",
    "output-unescaped": "Read and write JSON with a library",
    "first-card": "Send it for the paymentInstrumentId",
}
"""How the first advice about a flaw begins, where several causes look alike."""

UNREACHED = {
    "app.form.two-steps": "for the variant before 0.4.0; the sample two_steps.toml is run by itself",
    "app.faults.post-401": "Java's own client throws at a 401 to a streamed body, whatever the app takes for a success",
    **{
        f"app.faults.{call}-{answer}": "a client that takes a broken connection for an answer cannot be written here"
        for call in ("post", "get")
        for answer in ("connection-cut", "cut-in-the-middle")
    },
}
"""The cases without a flaw in Kotlin, and why."""
