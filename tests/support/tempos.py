"""The same relay made slower or narrower: what a run says about it has to stay the same."""

import random
import threading
import time
from collections import defaultdict
from contextlib import nullcontext

# Seconds and lanes that a stranger's back end may have.
TEMPOS = {
    "begins-late": {"before": 0.4},
    "answers-late": {"after": 0.4},
    "at-random": {"before": 0.6, "at_random": True},
    "two-lanes": {"lanes": 2},
    "five-lanes-late": {"lanes": 5, "before": 0.3},
}


def slowed(kind, *, before=0.0, after=0.0, lanes=0, lane_of_each_session=False, at_random=False):
    """A class of this relay that takes its time, in seconds, or carries only so many calls at once.

    Args:
        kind: the relay's class.
        before: seconds before it does anything.
        after: seconds between its answer and the phone.
        lanes: calls that it carries at once; 0 for any number.
        lane_of_each_session: calls of one session wait for each other.
        at_random: the seconds are the most; each call takes a part of them.
    """
    lane = threading.Semaphore(lanes) if lanes else nullcontext()
    locks = defaultdict(threading.Lock)
    part = random.Random(7).random if at_random else lambda: 1.0
    thread = threading.local()  # of one call; what it calls itself is in its lane already

    def made_slow(name):
        def call(self, session, *words):
            if getattr(thread, "in_lane", False):
                return getattr(super(Slowed, self), name)(session, *words)
            with lane, locks[session] if lane_of_each_session else nullcontext():
                thread.in_lane = True
                time.sleep(before * part())
                try:
                    return getattr(super(Slowed, self), name)(session, *words)
                finally:
                    time.sleep(after * part())
                    thread.in_lane = False

        return call

    names = "activation_data", "provision"
    Slowed = type(f"Slow{kind.__name__}", (kind,), {name: made_slow(name) for name in names})  # noqa: N806 - a class
    return Slowed
