/** Acknowledges what comes into a buffer, in the order in which it came [MQTT-4.6.0-2, MQTT-4.6.0-3]. */
export interface BufferAcks {
  /** Sends the frame when that is durable and all before it are sent, and calls back. */
  readonly acknowledge: (durable: Promise<void>, frame: Buffer, sent?: () => void) => void;
  /** The same for a message of QoS 2: the source has yet to release its packet id. */
  readonly receive: (durable: Promise<void>, id: number, frame: Buffer, sent?: () => void) => void;
  /** A packet id is released; the frame says so when that is durable. */
  readonly complete: (durable: Promise<void>, id: number, frame: Buffer) => void;
}

/**
 * Messages of QoS 2 that the source may hold for received and not completed, at most. mosquitto does not count them against the
 * window of a client; of those beyond its window (20 unless it is told otherwise) it forgets over a restart that we have them, and
 * sends them again though we have released them. Those of earlier connections count too: it releases them anew before it sends
 * any message again [MQTT-4.4.0-1], and they are no longer there when it has our PUBCOMP.
 */
const maxReceived = 10;

/** Acknowledgements of one connection. `fail` is called when something does not become durable. */
export const bufferAcks = (answer: (frame: Buffer) => void, fail: (error: unknown) => void): BufferAcks => {
  const received = new Set<number>();
  let roomFor: (() => void) | null = null;
  let turn: Promise<void> = Promise.resolve();

  const room = async (id: number): Promise<void> => {
    while (!received.has(id) && received.size >= maxReceived) {
      await new Promise<void>((resolve) => {
        roomFor = resolve;
      });
    }
    received.add(id);
  };
  const inTurn = (durable: Promise<void>, work: () => Promise<void>): void => {
    // Where one before it has failed nobody waits for it any more.
    durable.catch(() => undefined);
    turn = turn.then(() => durable).then(work);
    turn.catch(fail);
  };

  return {
    acknowledge: (durable, frame, sent) =>
      inTurn(durable, async () => {
        answer(frame);
        sent?.();
      }),
    receive: (durable, id, frame, sent) =>
      inTurn(durable, async () => {
        await room(id);
        answer(frame);
        sent?.();
      }),
    complete: (durable, id, frame) => {
      received.add(id);
      const completed = (): void => {
        answer(frame);
        received.delete(id);
        roomFor?.();
      };
      durable.then(completed, fail);
    },
  };
};
