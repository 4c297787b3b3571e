import { describe, expect, test } from 'vitest';
import { AppError } from '../errors.ts';
import { type BrokerAddress, describeBroker, parseBrokerUrl } from './broker-url.ts';

const good: readonly (readonly [string, BrokerAddress, string])[] = [
  ['mqtt://h', { kind: 'tcp', host: 'h', port: 1883 }, 'mqtt://h:1883'],
  ['mqtt://127.0.0.1:1/', { kind: 'tcp', host: '127.0.0.1', port: 1 }, 'mqtt://127.0.0.1:1'],
  ['mqtt://[::1]:1884', { kind: 'tcp', host: '::1', port: 1884 }, 'mqtt://[::1]:1884'],
  ['mqtts://h', { kind: 'tls', host: 'h', port: 8883, files: {} }, 'mqtts://h:8883'],
  [
    'mqtts://h?ca=/etc/ca.pem&cert=c.pem&key=k%20.pem',
    { kind: 'tls', host: 'h', port: 8883, files: { ca: '/etc/ca.pem', cert: 'c.pem', key: 'k .pem' } },
    'mqtts://h:8883',
  ],
  [
    'mqtt://us%40er:p%3A%2Fw@h:9',
    { kind: 'tcp', host: 'h', port: 9, username: 'us@er', password: 'p:/w' },
    'mqtt://h:9',
  ],
  ['mqtt://user@h', { kind: 'tcp', host: 'h', port: 1883, username: 'user' }, 'mqtt://h:1883'],
  ['ws://u:p@h:80/mqtt', { kind: 'ws', url: 'ws://h/mqtt', username: 'u', password: 'p' }, 'ws://h/mqtt'],
  ['ws://h:9001', { kind: 'ws', url: 'ws://h:9001/' }, 'ws://h:9001/'],
  ['wss://h/m?ca=a', { kind: 'wss', url: 'wss://h/m', files: { ca: 'a' } }, 'wss://h/m'],
  ['unix:/run/b.sock', { kind: 'unix', path: '/run/b.sock' }, 'unix:/run/b.sock'],
  ['unix:///run/b.sock', { kind: 'unix', path: '/run/b.sock' }, 'unix:/run/b.sock'],
  ['unix:b.sock', { kind: 'unix', path: 'b.sock' }, 'unix:b.sock'],
];

const bad: readonly (readonly [string, string])[] = [
  ['', 'write mqtt://host:port'],
  ['127.0.0.1:1883', 'write mqtt://host:port'],
  ['localhost:1883', 'it begins with "localhost:"'],
  ['http://h', 'it begins with "http:"'],
  ['mqtt://', 'it names no host'],
  ['mqtt://h:99999', 'write mqtt://host:port'],
  ['mqtt://h:0', 'port 0'],
  ['mqtt://h/path', 'only ws: and wss: take a path'],
  ['mqtt://h?ca=x', 'only mqtts: and wss:'],
  ['mqtt://:secret@h', 'a password without a user name'],
  ['mqtt://u:se%cret@h', 'the password has a broken %-escape'],
  ['mqtt://u:p@h#secret', 'write %23 for #'],
  ['mqtts://h?cafile=x', '"cafile" is not known'],
  ['mqtts://h?ca=', '"ca" must name one file'],
  ['mqtts://h?ca=a&ca=b', '"ca" must name one file'],
  ['mqtts://h?cert=a', 'cert and key go together'],
  ['unix:', 'the path of a socket'],
  ['unix://host/b.sock', 'the path of a socket'],
];

const problem = (text: string): AppError => {
  try {
    parseBrokerUrl(text);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
};

describe('the address of a broker (DESIGN §3: mqtt[s]://…, ws[s]://…, unix:…)', () => {
  test.each(good)('%s', (text, address, shown) => {
    expect(parseBrokerUrl(text)).toEqual(address);
    expect(describeBroker(address)).toBe(shown);
  });

  test.each(bad)('%s is refused in a sentence', (text, sentence) => {
    const { code, message } = problem(text);
    expect(code).toBe('BUS_URL_INVALID');
    expect(message).toContain(sentence);
    expect(message).not.toContain('secret');
  });
});
