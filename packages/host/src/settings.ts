import { isAbsolute, join, resolve } from 'node:path';
import type { ListenAddress } from '@infrakit/bus';
import {
  AppError,
  type BrokerAddress,
  defaultTopicPrefix,
  parseBrokerUrl,
  parseDuration,
  toAppError,
  topicsUnder,
} from '@infrakit/core';

/** How much is logged. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** `text` is one line for people, `json` one object a line. */
export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

/** Variables of an environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A broker that is there already, with the address as it was written. */
export interface ExternalBroker {
  readonly url: string;
  readonly address: BrokerAddress;
}

/** What the environment says of a host; each default is DESIGN §3's. */
export interface HostSettings {
  readonly home: string;
  readonly broker: ExternalBroker | undefined;
  readonly listen: ListenAddress;
  /** Undefined: what the broker of this home has, else `infrakit`. */
  readonly prefix: string | undefined;
  readonly usersFile: string | undefined;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly log: { readonly level: LogLevel; readonly format: LogFormat };
  /** Until the broker must have answered, in ms. */
  readonly startTimeoutMs: number;
  /** Whether a name that is led elsewhere in this home is waited for instead of refused. */
  readonly isStandby: boolean;
}

const defaultListen: ListenAddress = { host: '127.0.0.1', port: 1883 };
const defaultStartTimeoutMs = 10_000;

const wrong = (variable: string, expected: string, text: string): AppError =>
  new AppError('ARGUMENT_INVALID', `${variable}: expected ${expected}, found ${JSON.stringify(text)}`, {
    facts: { variable },
  });

/** Reads a variable; an empty one counts as not set. What `read` throws is said of the variable. */
const variable = <T>(env: Environment, name: string, read: (text: string) => T): T | undefined => {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  try {
    return read(text);
  } catch (thrown) {
    const { code, message, facts } = toAppError(thrown);
    if (message.startsWith(name)) throw thrown;
    throw new AppError(code, `${name}: ${message}`, { facts: { ...facts, variable: name } });
  }
};

const oneOf = <T extends string>(name: string, known: readonly T[], text: string): T => {
  const found = known.find((each) => each === text.toLowerCase());
  if (found === undefined) throw wrong(name, `one of ${known.join(', ')}`, text);
  return found;
};

const readListen = (text: string): ListenAddress => {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || !(port <= 65_535)) {
    throw wrong('INFRAKIT_LISTEN', 'host:port, such as 127.0.0.1:1883 or 127.0.0.1:0', text);
  }
  return { host, port };
};

const readTimeout = (text: string): number => {
  const ms = parseDuration(text);
  if (ms > 0) return ms;
  throw wrong('INFRAKIT_START_TIMEOUT', 'a duration above 0, such as 10s', text);
};

const truths = { true: true, '1': true, yes: true, false: false, '0': false, no: false };

const readTruth = (name: string, text: string): boolean =>
  truths[oneOf(name, ['true', '1', 'yes', 'false', '0', 'no'], text)];

const readTls = (env: Environment): HostSettings['tls'] => {
  const cert = variable(env, 'INFRAKIT_TLS_CERT', (text) => text);
  const key = variable(env, 'INFRAKIT_TLS_KEY', (text) => text);
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert, key };
  const [there, missing] =
    cert === undefined ? ['INFRAKIT_TLS_KEY', 'INFRAKIT_TLS_CERT'] : ['INFRAKIT_TLS_CERT', 'INFRAKIT_TLS_KEY'];
  throw new AppError('ARGUMENT_INVALID', `${there} is set without ${missing}: they go together`, {
    facts: { variable: there },
  });
};

/** Where everything is kept: `INFRAKIT_HOME`, else `~/.infrakit` (GP-D1). */
export const homeOf = (env: Environment, userHome: string): string =>
  variable(env, 'INFRAKIT_HOME', (text) => (isAbsolute(text) ? text : resolve(text))) ?? join(userHome, '.infrakit');

/** The broker that `INFRAKIT_BROKER` names, if any. Errors: `BUS_URL_INVALID`. */
export const externalBrokerOf = (env: Environment): ExternalBroker | undefined =>
  variable(env, 'INFRAKIT_BROKER', (url) => ({ url, address: parseBrokerUrl(url) }));

/** The prefix that `INFRAKIT_TOPIC_PREFIX` names, if any. Errors: `TOPIC_INVALID`. */
export const prefixOf = (env: Environment): string | undefined =>
  variable(env, 'INFRAKIT_TOPIC_PREFIX', (text) => topicsUnder(text).prefix);

/** What a stack's topics begin with when nobody says otherwise. */
export const fallbackPrefix = defaultTopicPrefix;

/**
 * Reads the settings of a host from an environment. Errors: one sentence that names the variable: `ARGUMENT_INVALID`,
 * `BUS_URL_INVALID`, `TOPIC_INVALID`, `DURATION_INVALID`.
 */
export const readSettings = (env: Environment, userHome: string): HostSettings => ({
  home: homeOf(env, userHome),
  broker: externalBrokerOf(env),
  listen: variable(env, 'INFRAKIT_LISTEN', readListen) ?? defaultListen,
  prefix: prefixOf(env),
  usersFile: variable(env, 'INFRAKIT_BROKER_USERS', (text) => text),
  tls: readTls(env),
  log: {
    level: variable(env, 'INFRAKIT_LOG_LEVEL', (text) => oneOf('INFRAKIT_LOG_LEVEL', logLevels, text)) ?? 'info',
    format: variable(env, 'INFRAKIT_LOG_FORMAT', (text) => oneOf('INFRAKIT_LOG_FORMAT', logFormats, text)) ?? 'text',
  },
  startTimeoutMs: variable(env, 'INFRAKIT_START_TIMEOUT', readTimeout) ?? defaultStartTimeoutMs,
  isStandby: variable(env, 'INFRAKIT_STANDBY', (text) => readTruth('INFRAKIT_STANDBY', text)) ?? false,
});
