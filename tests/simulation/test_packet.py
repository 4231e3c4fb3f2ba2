"""What is written in one turn of the loop leaves at once, in its order, and none of it is left behind."""

import asyncio

from workbook.simulation.packet import Packed


class Transport:
    def __init__(self):
        self.seen = []

    def write(self, data):
        self.seen.append(data)

    def close(self):
        self.seen.append("closed")

    def is_closing(self):
        return "closed" in self.seen

    def get_extra_info(self, name):
        return f"the transport's own {name}"


def seen(*steps):
    """What a transport sees of these steps; None lets the loop take a turn."""

    async def play():
        below = Transport()
        packed = Packed(below, asyncio.get_running_loop())
        for step in steps:
            await asyncio.sleep(0) if step is None else step(packed)
        return below.seen

    return asyncio.run(play())


def write(data):
    return lambda packed: packed.write(data)


def close(packed):
    packed.close()


def test_a_head_and_a_body_leave_together_and_the_next_turn_s_separately():
    assert seen(write(b"head"), write(b"body"), None, write(b"next"), None) == [b"headbody", b"next"]


def test_nothing_leaves_before_the_turn_is_over():
    seen_so_far = []
    seen(write(b"head"), lambda packed: seen_so_far.extend(packed.seen))
    assert seen_so_far == []


def test_what_is_written_leaves_before_the_end():
    assert seen(write(b"head"), write(b""), close, None) == [b"head", "closed"]
    assert seen(close, None) == ["closed"]


def test_all_else_is_the_transport_s_own():
    def ask(packed):
        packed.write(packed.get_extra_info("socket").encode())
        assert not packed.is_closing()
        packed.close()
        assert packed.is_closing()

    assert seen(ask) == [b"the transport's own socket", "closed"]
