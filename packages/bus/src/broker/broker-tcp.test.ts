import { describe, expect, it } from 'vitest';
import { checkListen, isLoopback, tcpServer } from './broker-tcp.ts';

describe('listening', () => {
  it.each(['127.0.0.1', '127.8.8.8', 'localhost', '::1', '::ffff:127.0.0.1'])('%s is loopback', (host) =>
    expect(isLoopback(host)).toBe(true),
  );
  it.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '127.example.org', 'example.org', '127.0.0.1.example.org', ''])(
    '%s is not',
    (host) => expect(isLoopback(host)).toBe(false),
  );

  it.each([
    [false, false, 'set INFRAKIT_TLS_CERT and INFRAKIT_TLS_KEY and INFRAKIT_BROKER_USERS,'],
    [true, false, 'set INFRAKIT_BROKER_USERS,'],
    [false, true, 'set INFRAKIT_TLS_CERT and INFRAKIT_TLS_KEY,'],
  ])('beyond loopback needs TLS and users (tls %s, users %s): says what to set (DESIGN §3)', (tls, users, what) => {
    const check = () => checkListen({ host: '0.0.0.0', port: 1883 }, { tls, users });
    expect(check).toThrow(expect.objectContaining({ code: 'BROKER_INVALID' }));
    expect(check).toThrow(what);
  });

  it('beyond loopback is fine with both, on loopback with neither', () => {
    checkListen({ host: '0.0.0.0', port: 0 }, { tls: true, users: true });
    checkListen({ host: '127.0.0.1', port: 0 }, { tls: false, users: false });
  });

  it('with a certificate that is none is a sentence that names the settings', () => {
    const ignore = (): void => undefined;
    const options = { onSocket: ignore, mayConnect: () => true, onTlsError: ignore, handshakeTimeoutMs: 1_000 };
    expect(() => tcpServer({ cert: 'x', key: 'y' }, options)).toThrow(/^INFRAKIT_TLS_CERT and INFRAKIT_TLS_KEY/);
  });
});
