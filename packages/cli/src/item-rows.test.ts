import { expect, test } from 'vitest';
import { itemRows } from './item-rows.ts';

test('issue 6: the row of a mirrored topic says what was dropped and why, and what the sink does not allow', async () => {
  const row = (Data: object) => ({
    kind: 'event-repeater',
    metadata: { name: 'out' },
    state: [{ Key: 's/#', Ordinal: 0, State: 'active', Data: { messages: 3, bytes: 30, lagMs: 1, ...Data } }],
  });
  const shown = async (Data: object): Promise<string | undefined> => {
    const lines = await itemRows([row(Data)], '{{ default .instance.ID .error }}', true);
    return lines[0]?.split('\t').at(-1)?.trim();
  };
  expect(await shown({ dropped: 0 })).toBe('3 messages, 30 bytes, lag 1 ms');
  expect(await shown({ dropped: 2 })).toBe('3 messages, 30 bytes, lag 1 ms, 2 dropped');
  expect(await shown({ dropped: 2, lastDrop: 'too large', notes: 'QoS 1 in the place of 2', error: 'gone' })).toBe(
    '3 messages, 30 bytes, lag 1 ms, 2 dropped (the last: too large), QoS 1 in the place of 2, last error: gone',
  );
});
