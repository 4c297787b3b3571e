import { topicsUnder } from '@infrakit/core';
import { BehaviorSubject } from 'rxjs';
import { expect, it } from 'vitest';
import type { Connection, ConnectionStatus, Message } from '../connection/connection.ts';
import { virtualTime } from '../virtual-time.ts';
import { readRetained } from './retained-read.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

it('retained messages that a slow broker sends one after the other all belong to the read; live ones do not prolong it', async () => {
  const time = virtualTime();
  let deliver: (message: Message) => void = quiet;
  const connection = {
    clientId: 'c',
    status: new BehaviorSubject<ConnectionStatus>({ kind: 'connected', session: 1, protocol: 'memory' }),
    subscribe: (filter: string, _qos: number, handler: (message: Message) => void) => {
      if (filter === 'a/#') deliver = handler;
      return { ready: async () => undefined, close: quiet };
    },
  } as unknown as Connection;
  const seen: string[] = [];
  const options = {
    connection,
    topics: topicsUnder('infrakit'),
    filters: ['a/#'],
    qos: 1,
    after: time.after,
    log,
  } as const;
  readRetained(options, {
    begin: () => seen.push('begin'),
    message: ({ topic }) => seen.push(topic),
    end: () => seen.push('end'),
  });
  const send = async (topic: string, retain: boolean): Promise<void> => {
    await time.advance(15);
    deliver({ topic, retain, payload: Buffer.from('x'), qos: 1 });
  };
  for (const topic of ['a/1', 'a/2', 'a/3']) await send(topic, true);
  expect(seen).toEqual(['begin', 'a/1', 'a/2', 'a/3']);
  for (const topic of ['a/4', 'a/5', 'a/6']) await send(topic, false);
  expect(seen).toEqual(['begin', 'a/1', 'a/2', 'a/3', 'a/4', 'end', 'a/5', 'a/6']);
});

it('the silence of a broker that is busy is no end: what it sends after its next answer belongs to the read', async () => {
  const time = virtualTime();
  let deliver: (message: Message) => void = quiet;
  const busyMs = 100;
  const connection = {
    clientId: 'c',
    status: new BehaviorSubject<ConnectionStatus>({ kind: 'connected', session: 1, protocol: 'memory' }),
    subscribe: (filter: string, _qos: number, handler: (message: Message) => void) => {
      if (filter === 'a/#') deliver = handler;
      return { ready: () => new Promise<void>((resolve) => time.after(busyMs, resolve)), close: quiet };
    },
  } as unknown as Connection;
  const seen: string[] = [];
  readRetained(
    { connection, topics: topicsUnder('infrakit'), filters: ['a/#'], qos: 1, after: time.after, log },
    { begin: quiet, message: ({ topic }) => seen.push(topic), end: () => seen.push('end') },
  );
  // Acknowledged after 100 ms, one round trip more until 200 ms, and then nothing for 50 ms.
  await time.advance(250);
  deliver({ topic: 'a/1', retain: true, payload: Buffer.from('x'), qos: 1 });
  await time.advance(1_000);
  expect(seen).toEqual(['a/1', 'end']);
});
