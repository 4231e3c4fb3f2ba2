"""Every state that a bench comes through, with the button in it."""


def walked(bench):
    """Walk the whole flow; pairs of a state and the button, one for each event."""
    seen, happen = [], bench._happen

    def watched(event):
        happen(event)
        seen.append((bench.state, bench.button))

    bench._happen = watched
    bench.walk()
    return seen
