/**
 * Windows of one browser have six connections to a server that speaks HTTP/1.1. Streams take no more than four of them: a window
 * that comes later waits for its turn, and one that has had its turn gives way, so that pages load and all hear of everything.
 *
 * Browsers have locks only on pages that came by HTTPS or from this machine. Elsewhere nothing is counted.
 */
const MOST = 4;
const TURN = 3_000; // ms until a stream gives way to one that waits

const nameOf = (slot: number) => `layover-stream-${slot}`;

/**
 * Have a stream as long as there is a connection for it. `hold` ends when its signal is aborted: by `stopped`, or because
 * another window waits. `wait` is called if this one has to wait. Return whether the stream gave way.
 */
export async function inTurn(
  stopped: AbortSignal,
  wait: () => void,
  hold: (over: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const locks = navigator.locks as LockManager | undefined;
  if (locks === undefined) {
    await hold(stopped);
    return false;
  }
  let hasGivenWay = false;
  const have = async (slot: number) => {
    const turn = new AbortController();
    const timer = window.setInterval(async () => {
      const { pending = [] } = await locks.query();
      if (!pending.some((one) => one.name === nameOf(slot))) return;
      hasGivenWay = true;
      turn.abort();
    }, TURN);
    try {
      await hold(AbortSignal.any([stopped, turn.signal]));
    } catch (error) {
      if (!hasGivenWay) throw error;
    } finally {
      window.clearInterval(timer);
    }
  };
  for (let slot = 0; slot < MOST; slot++) {
    const isMine = await locks.request(nameOf(slot), { ifAvailable: true }, async (lock) => {
      if (lock === null || stopped.aborted) return false;
      await have(slot);
      return true;
    });
    if (isMine || stopped.aborted) return hasGivenWay;
  }
  wait();
  const slot = Math.floor(Math.random() * MOST);
  await locks.request(nameOf(slot), { signal: stopped }, () => have(slot));
  return hasGivenWay;
}
