import { parseBrokerUrl } from '@infrakit/core';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { recordingLog } from '../../../test/host/recording-log.ts';
import { withHome } from '../../../test/host/toy-host.ts';
import { chooseBroker } from './broker-choice.ts';
import { readBrokerRecord } from './broker-json.ts';
import type { BrokerOptions } from './broker-options.ts';
import { type Home, openHome } from './home.ts';

const choose = async (home: Home | null, more: Partial<BrokerOptions> = {}) => {
  const { log, lines } = recordingLog();
  const options: BrokerOptions = {
    home,
    external: undefined,
    listen: { host: '127.0.0.1', port: 0 },
    prefix: undefined,
    usersFile: undefined,
    tls: undefined,
    timeoutMs: 1_000,
    pid: process.pid,
    ...more,
  };
  const { signal } = new AbortController();
  const broker = await chooseBroker(options, { after: realAfter, nowMs: () => performance.now(), signal, log });
  return { ...broker, warned: lines.filter(({ level }) => level === 'warn').map(({ message }) => message) };
};

const external = (url: string) => ({ external: { url, address: parseBrokerUrl(url) } });

describe('a broker that is there already', () => {
  it.each([
    ['mqtt://broker.example', true],
    ['ws://192.0.2.1:9001/mqtt', true],
    ['mqtts://broker.example', true],
    ['mqtt://u:p@broker.example', false],
    ['mqtt://127.0.0.1:1884', false],
    ['mqtt://[::1]', false],
    ['ws://localhost:9001/', false],
    ['unix:/run/mosquitto.sock', false],
  ])('%s: warns that anybody may command it: %s (DESIGN §3)', async (url, isWarned) => {
    const { kind, warned } = await choose(null, external(url));
    expect(kind).toBe('external');
    expect(warned.some((message) => message.includes('lets anybody in'))).toBe(isWarned);
  });

  it('is shown without its password, and recorded with it for who may read the home', () =>
    withHome(async (path) => {
      const home = await openHome(path);
      const broker = await choose(home, { ...external('mqtt://u:geheim@broker.example'), prefix: 'lab' });
      expect(broker.url).toBe('mqtt://broker.example:1883');
      expect(await readBrokerRecord(path)).toMatchObject({ url: 'mqtt://u:geheim@broker.example', prefix: 'lab' });
      await broker.stop(false);
      expect(await readBrokerRecord(path)).toBeDefined();
      await broker.stop(true);
      expect(await readBrokerRecord(path)).toBeUndefined();
    }));

  it('does not take the place of the live embedded one of the home', () =>
    withHome(async (path) => {
      const home = await openHome(path);
      const own = await choose(home);
      const before = await readBrokerRecord(path);
      const other = await choose(home, external('mqtt://127.0.0.1:1884'));
      expect(other.warned).toEqual(['this home has an embedded broker of its own, which stays recorded']);
      expect(await readBrokerRecord(path)).toEqual(before);
      await own.stop(true);
    }));

  it('that the home names, but that is gone, is replaced by an embedded one', () =>
    withHome(async (path) => {
      const home = await openHome(path);
      await choose(home, external('unix:/nowhere/m.sock'));
      const own = await choose(home);
      expect(own.kind).toBe('embedded');
      expect(await readBrokerRecord(path)).toMatchObject({ kind: 'embedded', socket: `${path}/broker.sock` });
      await own.stop(true);
    }));
});

describe('the broker of a home', () => {
  it('gives its prefix to who joins it without one of his own', () =>
    withHome(async (path) => {
      const home = await openHome(path);
      const own = await choose(home, { prefix: 'lab' });
      expect([(await choose(home)).prefix, (await choose(home, { prefix: 'other' })).prefix]).toEqual(['lab', 'other']);
      await own.stop(true);
    }));
});
