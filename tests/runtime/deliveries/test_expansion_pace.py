"""When occasions are expanded for a destination with a long queue."""

from __future__ import annotations

from layover.runtime.deliveries.expansion_pace import AT_ONCE, LONG, WINDOW, ExpansionPace


class Receiver:
    """A destination that takes so many of the deliveries that wait in each window, instead of a store that counts."""

    def __init__(self, speed: int) -> None:
        self.waiting = 0
        self._speed = speed

    async def count_waiting(self, _destination: str, most: int) -> int:
        return min(self.waiting, most)

    def take(self) -> None:
        self.waiting -= min(self._speed, self.waiting)


async def _paced(receiver: Receiver, count: int) -> tuple[int, int]:
    """Expand so many occasions; return how many windows that took, and how often occasions were put off."""
    pace = ExpansionPace(receiver)
    now, windows, put_off = 1_000_000, 0, 0
    due = {now: count}
    while due:
        for _ in range(due.pop(now, 0)):
            at = await pace.expand_at(["erp"], now)
            if at == now:
                receiver.waiting += 1
            else:
                due[at] = due.get(at, 0) + 1
                put_off += 1
        receiver.take()
        now, windows = now + WINDOW, windows + 1
    return windows, put_off


async def test_a_quick_receiver_does_not_wait_for_occasions_that_were_put_off() -> None:
    windows, _ = await _paced(Receiver(speed=150), 3_000)
    assert windows <= 3_000 // 150 + 5


async def test_an_occasion_for_a_slow_receiver_is_put_off_only_a_few_times() -> None:
    receiver = Receiver(speed=AT_ONCE)
    _, put_off = await _paced(receiver, 3_000)
    assert put_off < 3 * 3_000
    assert receiver.waiting <= LONG + AT_ONCE
