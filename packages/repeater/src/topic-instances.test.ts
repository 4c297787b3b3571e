import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@infrakit/runtime';
import {
  direct,
  type Instance,
  type InstanceSubject,
  instanceContract,
  instanceInterface,
  realAfter,
  testingContext,
} from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { contractTests } from '../../../test/contract.ts';
import { recordingLog } from '../../../test/host/recording-log.ts';
import { type Mirrors, openMirrors } from './mirror/mirrors.ts';

const ctx = testingContext();
const { log } = recordingLog();
const limits = { probeMs: 1_000, maxBytes: 1_024 };

let ids = 0;
const newId = (): string => {
  ids += 1;
  return `m${String(ids).padStart(9, '0')}`;
};

const open = (path: string | null): Promise<Mirrors> =>
  openMirrors(path, limits, {
    identity: 'test',
    broker: null,
    variable: () => undefined,
    log,
    clock: systemClock,
    random: Math.random,
    newId,
    changed: () => undefined,
    fares: () => undefined,
  });

/** Nothing listens at port 1, and the log takes everything: no message is ever mirrored here. */
const properties = (n: number) => ({
  Source: 'mqtt://127.0.0.1:1',
  Sink: { Protocol: 'stderr' },
  sourcetopic: `s/${n}`,
  QoS: 0,
});

const subject = (isKept: boolean) => async (): Promise<InstanceSubject & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'mirrors-'));
  const path = isKept ? join(folder, 'mirrors.log') : null;
  let mirrors = await open(path);
  return {
    get instance(): Instance {
      return direct(instanceInterface, mirrors.instance, { after: realAfter });
    },
    properties,
    describedProperties: (n) => ({
      ...properties(n),
      Sink: { Protocol: 'stderr', URL: 'tcp://localhost:1883' },
      sinktopic: '',
      LocalPrefix: '',
      RemotePrefix: '',
      Retain: 'never',
      MQTT: 'auto',
      Exclude: [],
      Direction: 'out',
      Format: 'event',
    }),
    invalidProperties: { ...properties(1), sourcetopic: 'a/#/b' },
    keepsLogicalId: true,
    isRelabelRefused: false,
    hasIdempotencyKeys: true,
    takesTerms: true,
    isEventuallyConsistent: false,
    longList: 300,
    ...(isKept && {
      restart: async () => {
        await mirrors.close();
        mirrors = await open(path);
      },
    }),
    [Symbol.asyncDispose]: async () => {
      await mirrors.close();
      await rm(folder, { recursive: true });
    },
  };
};

describe('kept', () => contractTests(instanceContract, subject(true)));
describe('in memory', () => contractTests(instanceContract, subject(false)));

const withMirrors = async (work: (mirrors: Mirrors) => Promise<void>): Promise<void> => {
  const mirrors = await open(null);
  try {
    await work(mirrors);
  } finally {
    await mirrors.close();
  }
};

const provision = (mirrors: Mirrors, Properties: unknown, Tags: Record<string, string> = {}) =>
  mirrors.instance.provision({ spec: { Properties, Tags, Init: '', LogicalID: null, Attachments: null } }, ctx);

describe('what a mirror may be', () => {
  test('every fault is told at once', () =>
    withMirrors(async ({ instance }) => {
      const wrong = { ...properties(1), QoS: 3, Retain: 'sometimes', Exclude: [''] };
      const refused = instance.validate({ properties: wrong }, ctx);
      await expect(refused).rejects.toMatchObject({ code: 'INSTANCE_INVALID', facts: { faults: { length: 3 } } });
    }));

  test('a secret in the wrong place is refused and not repeated', () =>
    withMirrors(async ({ instance }) => {
      const secret = 'hunter2';
      for (const wrong of [
        { ...properties(1), Source: `mqtt://me:${secret}@127.0.0.1:1` },
        { ...properties(1), Sink: { URL: `mqtt://me:${secret}@127.0.0.1:1` } },
        { ...properties(1), Sink: { URL: '127.0.0.1:1', Username: 'me', Password: secret } },
      ]) {
        const error: unknown = await instance.validate({ properties: wrong }, ctx).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'INSTANCE_INVALID' });
        expect(JSON.stringify(error) + String(error)).not.toContain(secret);
      }
    }));

  test('GP-R3: sinks are written with tcp://, mqtt:// or no scheme at all', () =>
    withMirrors(async ({ instance }) => {
      for (const URL of ['tcp://localhost:1883', 'mqtt://localhost:1883', 'localhost:1883', 'mqtts://x', 'ws://x/y']) {
        await instance.validate({ properties: { ...properties(1), Sink: { URL } } }, ctx);
      }
    }));

  test('GP-R12: a sink topic with wildcards that nothing stands for is refused', () =>
    withMirrors(async ({ instance }) => {
      const wrong = { ...properties(1), sinktopic: 'a/+' };
      await expect(instance.validate({ properties: wrong }, ctx)).rejects.toMatchObject({ code: 'INSTANCE_INVALID' });
      await instance.validate({ properties: { ...properties(1), sinktopic: '/time//1s' } }, ctx);
    }));

  test('a buffer is refused where nothing is kept on the disk, and one that makes no sense everywhere', () =>
    withMirrors(async ({ instance }) => {
      const refused = (Buffer: object) =>
        expect(instance.validate({ properties: { ...properties(1), Buffer } }, ctx)).rejects.toThrow(/^Buffer/);
      await refused({ MaxBytes: 1024 * 1024 });
      await refused({ MaxBytes: 10 });
      await refused({ MaxBytes: 1024 * 1024, Policy: 'shrink' });
    }));

  test('a mirror that would send a message round for ever is refused, the way spelled out', () =>
    withMirrors(async (mirrors) => {
      const there = { ...properties(1), Sink: { URL: 'mqtt://127.0.0.1:2' }, sourcetopic: 's/#', sinktopic: 'x/' };
      const back = {
        Source: 'mqtt://localhost:2',
        Sink: { URL: 'localhost:1' },
        sourcetopic: 'x/#',
      };
      await provision(mirrors, there);
      await provision(mirrors, back);
      const again = { ...there, sourcetopic: 'x/s/#', sinktopic: '' };
      await expect(provision(mirrors, again)).rejects.toThrow(/round for ever: .* then .* again/);
      expect(mirrors.reports()).toHaveLength(2);
    }));

  test('of two that would make a loop together one is refused, also when they come at once', () =>
    withMirrors(async (mirrors) => {
      const there = { ...properties(1), Sink: { URL: 'mqtt://127.0.0.1:2' }, sourcetopic: 's/#' };
      const back = { Source: 'mqtt://127.0.0.1:2', Sink: { URL: 'mqtt://127.0.0.1:1' }, sourcetopic: 's/#' };
      const results = await Promise.allSettled([provision(mirrors, there), provision(mirrors, back)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }));
});
