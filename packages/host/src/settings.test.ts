import { AppError } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { type Environment, readSettings } from './settings.ts';

const read = (env: Environment) => readSettings(env, '/home/u');

const failure = (env: Environment): { code: string; message: string } => {
  try {
    read(env);
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message };
  }
  throw new Error('it was accepted');
};

describe('settings of a host', () => {
  it('have the defaults of DESIGN §3 and §5: one root, loopback, port 1883 (GP-D1, GP-D9)', () => {
    expect(read({})).toEqual({
      home: '/home/u/.infrakit',
      broker: undefined,
      listen: { host: '127.0.0.1', port: 1883 },
      prefix: undefined,
      usersFile: undefined,
      tls: undefined,
      log: { level: 'info', format: 'text' },
      startTimeoutMs: 10_000,
      isStandby: false,
    });
  });

  it('take an empty variable as not set', () => {
    expect(read({ INFRAKIT_HOME: '', INFRAKIT_BROKER: '', INFRAKIT_LISTEN: '', INFRAKIT_LOG_LEVEL: '' })).toEqual(
      read({}),
    );
  });

  it('read every variable', () => {
    expect(
      read({
        INFRAKIT_HOME: '/srv/i',
        INFRAKIT_BROKER: 'mqtt://u:p@broker:1884',
        INFRAKIT_LISTEN: '[::1]:0',
        INFRAKIT_TOPIC_PREFIX: 'lab/infrakit',
        INFRAKIT_BROKER_USERS: '/etc/users',
        INFRAKIT_TLS_CERT: '/c.pem',
        INFRAKIT_TLS_KEY: '/k.pem',
        INFRAKIT_LOG_LEVEL: 'DEBUG',
        INFRAKIT_LOG_FORMAT: 'json',
        INFRAKIT_START_TIMEOUT: '1m30s',
        INFRAKIT_STANDBY: 'yes',
      }),
    ).toEqual({
      home: '/srv/i',
      broker: {
        url: 'mqtt://u:p@broker:1884',
        address: { kind: 'tcp', host: 'broker', port: 1884, username: 'u', password: 'p' },
      },
      listen: { host: '::1', port: 0 },
      prefix: 'lab/infrakit',
      usersFile: '/etc/users',
      tls: { cert: '/c.pem', key: '/k.pem' },
      log: { level: 'debug', format: 'json' },
      startTimeoutMs: 90_000,
      isStandby: true,
    });
  });

  it.each([
    [{ INFRAKIT_BROKER: 'broker:1883' }, 'BUS_URL_INVALID', /^INFRAKIT_BROKER: not the address of a broker: /],
    [{ INFRAKIT_LISTEN: '1883' }, 'ARGUMENT_INVALID', /^INFRAKIT_LISTEN: expected host:port, .*found "1883"$/],
    [{ INFRAKIT_LISTEN: '127.0.0.1:70000' }, 'ARGUMENT_INVALID', /^INFRAKIT_LISTEN: /],
    [{ INFRAKIT_LISTEN: '::1:1883' }, 'ARGUMENT_INVALID', /^INFRAKIT_LISTEN: /],
    [{ INFRAKIT_TOPIC_PREFIX: 'a//b' }, 'TOPIC_INVALID', /^INFRAKIT_TOPIC_PREFIX: /],
    [{ INFRAKIT_TOPIC_PREFIX: 'a/#' }, 'TOPIC_INVALID', /^INFRAKIT_TOPIC_PREFIX: /],
    [{ INFRAKIT_TLS_CERT: '/c.pem' }, 'ARGUMENT_INVALID', /^INFRAKIT_TLS_CERT is set without INFRAKIT_TLS_KEY/],
    [{ INFRAKIT_TLS_KEY: '/k.pem' }, 'ARGUMENT_INVALID', /^INFRAKIT_TLS_KEY is set without INFRAKIT_TLS_CERT/],
    [
      { INFRAKIT_LOG_LEVEL: 'loud' },
      'ARGUMENT_INVALID',
      /^INFRAKIT_LOG_LEVEL: expected one of debug, info, warn, error/,
    ],
    [
      { INFRAKIT_LOG_FORMAT: 'xml' },
      'ARGUMENT_INVALID',
      /^INFRAKIT_LOG_FORMAT: expected one of text, json, found "xml"$/,
    ],
    [{ INFRAKIT_START_TIMEOUT: '10' }, 'DURATION_INVALID', /^INFRAKIT_START_TIMEOUT: .*missing unit/],
    [{ INFRAKIT_START_TIMEOUT: '0s' }, 'ARGUMENT_INVALID', /^INFRAKIT_START_TIMEOUT: expected a duration above 0/],
    [{ INFRAKIT_STANDBY: 'maybe' }, 'ARGUMENT_INVALID', /^INFRAKIT_STANDBY: expected one of true, /],
  ])('%j is one sentence that names the variable', (env, code, sentence) => {
    const { code: found, message } = failure(env);
    expect({ found, message }).toEqual({ found: code, message: expect.stringMatching(sentence) });
    expect(message).not.toContain('\n');
  });

  it('never repeat a password', () => {
    expect(failure({ INFRAKIT_BROKER: 'http://u:geheim@broker' }).message).not.toContain('geheim');
  });
});
