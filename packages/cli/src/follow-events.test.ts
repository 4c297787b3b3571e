import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionStatus } from '@infrakit/bus';
import type { Event } from '@infrakit/core';
import type { EventMessage } from '@infrakit/spi';
import { BehaviorSubject, Observable, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { type FollowOptions, followEvents, tellUnknown } from './follow-events.ts';
import type { Session } from './session.ts';

const event = (facts: Partial<Event> = {}): Event => ({
  Topic: 'streams/sec/1',
  ID: '1sec',
  Message: '',
  Timestamp: '2018-11-22T18:20:16.123456789Z',
  ...facts,
});

/** A session whose only plugin says what the test says, and what a command line writes. */
const scene = () => {
  const messages = new Subject<EventMessage>();
  const status = new BehaviorSubject<ConnectionStatus>({ kind: 'connected', session: 1, protocol: '3.1.1' });
  const asked: string[] = [];
  let open = 0;
  const session: Pick<Session, 'subscribe' | 'status' | 'plugins' | 'ctx'> = {
    subscribe: (plugin, topic) => {
      asked.push(`${plugin} ${topic}`);
      return new Observable((to) => {
        open += 1;
        const subscription = messages.subscribe(to);
        return () => {
          open -= 1;
          subscription.unsubscribe();
        };
      });
    },
    status,
    ctx: () => ({ signal: new AbortController().signal, timeoutMs: 1_000 }),
    plugins: {
      watch: () => new Subject(),
      resolve: () =>
        ({
          list: async ({ topic }: { readonly topic: string }) => ({
            nodes: topic === 'sec' ? ['1', '5'] : topic === 'sec/1' ? [] : null,
          }),
        }) as never,
    },
  };
  const [out, notes]: [string[], string[]] = [[], []];
  const abort = new AbortController();
  const call = {
    session: session as Session,
    print: (lines: readonly string[]) => void out.push(...lines),
    note: (sentence: string) => void notes.push(sentence),
    signal: abort.signal,
    prefixOf: () => '',
  };
  return {
    out,
    notes,
    asked,
    call,
    open: () => open,
    status,
    interrupt: () => abort.abort(),
    follow: (options: FollowOptions = {}, topics = ['.']) =>
      followEvents(
        topics.map((topic) => ({ plugin: 'time', topic })),
        options,
        call,
      ),
    say: (facts: Partial<Event> = {}) => messages.next({ kind: 'event', plugin: 'time', event: event(facts) }),
    gap: (reason: string) => messages.next({ kind: 'gap', plugin: 'time', reason }),
    bad: (topic: string, reason: string) => messages.next({ kind: 'bad', plugin: 'time', topic, reason }),
    end: () => messages.complete(),
  };
};

/** `followEvents` subscribes once its view is there. */
const begun = async ({ open }: ReturnType<typeof scene>): Promise<void> => {
  while (open() === 0) await new Promise((resolve) => setImmediate(resolve));
};

describe('following events (GP §3.5)', () => {
  test('GP-E5, EI-V6: each line has the topic the event came under, not the one asked for', async () => {
    const stage = scene();
    const exit = stage.follow({ count: '2' }, ['+/sec/#', 'streams/']);
    await begun(stage);
    stage.say({ Data: 1_000_000_000 });
    expect(await exit).toBe(0);
    expect(stage.out).toEqual(['streams/sec/1\t1000000000', 'streams/sec/1\t1000000000']);
    expect(stage.asked).toEqual(['time +/sec/#', 'time streams/']);
  });

  test('EI-V7: an event without data shows its id, message and error', async () => {
    const stage = scene();
    const exit = stage.follow({ count: '3' });
    await begun(stage);
    stage.say({ Topic: 'a/gone', ID: 'a/1', Message: 'metadata gone' });
    stage.say({ Topic: 'a/error', ID: 'a/1', Error: 'refused' });
    stage.say({ Topic: 'a/null', Data: null });
    await exit;
    expect(stage.out).toEqual(['a/gone\ta/1 metadata gone', 'a/error\ta/1 refused', 'a/null\tnull']);
  });

  test('--count ends it after so many, and everything that was open is closed (GP-E2)', async () => {
    const stage = scene();
    const exit = stage.follow({ count: '2' });
    await begun(stage);
    for (let n = 0; n < 5; n += 1) stage.say({ Data: n });
    expect(await exit).toBe(0);
    expect(stage.out).toHaveLength(2);
    expect({ open: stage.open(), isObserved: stage.status.observed }).toEqual({ open: 0, isObserved: false });
  });

  test.each([
    [{ timeout: '30ms' }, 0, []],
    [{ timeout: '30ms', count: '2' }, 3, ['0 of 2 events came within 30ms']],
  ])('%j ends it with exit %i, and a count that was not reached is told', async (options, exit, notes) => {
    const stage = scene();
    expect(await stage.follow(options)).toBe(exit);
    expect(stage.notes).toEqual(notes);
    expect(stage.open()).toBe(0);
  });

  test('Ctrl-C ends it with exit 0', async () => {
    const stage = scene();
    const exit = stage.follow();
    await begun(stage);
    stage.interrupt();
    expect(await exit).toBe(0);
    expect(stage.open()).toBe(0);
  });

  test('-o json is the event as it is', async () => {
    const stage = scene();
    const exit = stage.follow({ output: 'json', count: '1' });
    await begun(stage);
    stage.say({ Data: { a: [1] } });
    await exit;
    expect(JSON.parse(stage.out[0] ?? '')).toEqual(event({ Data: { a: [1] } }));
  });

  test.each([
    ['str://{{.Topic}} {{.ID}} {{.Properties.a}}', 'streams/sec/1 1sec b'],
    ['{{ (jsonDecode .Data).a }}', 'b'],
  ])('--view %s', async (view, line) => {
    const stage = scene();
    const exit = stage.follow({ view, count: '1' });
    await begun(stage);
    stage.say({ Data: { a: 'b' } });
    await exit;
    expect(stage.out).toEqual([line]);
  });

  test('EI-V7: an event that a view cannot show is told, and the next one is followed; a broken view is exit 1', async () => {
    const stage = scene();
    const exit = stage.follow({ view: '{{ jsonDecode .Data }}', count: '1' });
    await begun(stage);
    stage.say({});
    stage.say({});
    stage.say({ Data: 'text' });
    expect(await exit).toBe(0);
    expect(stage.out).toEqual(['text']);
    expect(stage.notes).toEqual([expect.stringContaining('streams/sec/1: the view does not render: ')]);
    await expect(stage.follow({ view: '{{ nosuch }}' })).rejects.toMatchObject({ code: 'SPEC_TEMPLATE' });
    expect(stage.open()).toBe(0);
  });

  test('--view names a file, or something that cannot be read (GP §3.5)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'view-'));
    await writeFile(join(folder, 'a.tpl'), '{{.ID}} from a file');
    const stage = scene();
    const exit = stage.follow({ view: `file://${folder}/a.tpl`, count: '1' });
    await begun(stage);
    stage.say();
    await exit;
    expect(stage.out).toEqual(['1sec from a file']);
    for (const view of [`file://${folder}/none`, 'gopher://a']) {
      await expect(stage.follow({ view })).rejects.toMatchObject({ code: 'SPEC_UNREADABLE' });
    }
    await rm(folder, { recursive: true });
  });

  test('Ctrl-C before there is anything to follow ends it all the same', async () => {
    const stage = scene();
    stage.interrupt();
    expect(await stage.follow()).toBe(0);
    expect(stage.open()).toBe(0);
  });

  test.each([
    [{ output: 'yaml' }, '-o takes json, not "yaml"'],
    [{ count: '0' }, '--count takes a whole number from 1, not "0"'],
    [{ count: 'many' }, '--count takes a whole number from 1, not "many"'],
  ])('%j is wrong usage', async (options, message) => {
    await expect(scene().follow(options)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', message });
  });

  test('GP-E13, EI-V12: a lost broker, gaps and what is no event are told; the same gap once', async () => {
    const stage = scene();
    const exit = stage.follow({ count: '2' });
    await begun(stage);
    for (let n = 0; n < 3; n += 1) stage.status.next({ kind: 'disconnected', reason: 'ECONNRESET' });
    stage.status.next({ kind: 'connected', session: 2, protocol: '3.1.1' });
    stage.gap('connected anew');
    stage.gap('connected anew');
    stage.bad('infrakit/events/time/x', 'no event: bad');
    stage.say({ Data: 1 });
    stage.gap('connected anew');
    stage.say({ Data: 2 });
    await exit;
    expect(stage.notes).toEqual([
      'the broker is lost (ECONNRESET); waiting for it',
      'events may be missing: connected anew',
      'no event on infrakit/events/time/x: no event: bad',
      'events may be missing: connected anew',
    ]);
    expect(stage.out).toHaveLength(2);
  });

  test('a connection that is closed for good is exit 69', async () => {
    const stage = scene();
    const exit = stage.follow();
    await begun(stage);
    stage.end();
    expect(await exit).toBe(69);
  });
});

test('GP-E4: a topic with others below it, and one that is not there, are told; filters and old forms are not', async () => {
  const { call, notes } = scene();
  await tellUnknown('time/streams', ['.', '', '/', 'sec/', 'sec/1', '//sec/1', 'sec', 'sce/1', '+/1', 'none/'], call);
  expect(notes).toEqual([
    'sec has topics below it: sec/ follows them',
    'time/streams knows no topic sce/1 so far',
    'time/streams knows no topic none/ so far',
  ]);
});
