import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Duplex } from 'node:stream';
import {
  AppError,
  type BrokerAddress,
  canonicalJson,
  describeBroker,
  parseBrokerUrl,
  type TlsFiles,
} from '@infrakit/core';
import type { BrokerAccess, Log, OpenReader } from '@infrakit/spi';
import type { BrokerLogin, MirrorSink, MirrorSource } from '../mirror/mirror.ts';
import { brokerStream, type TlsMaterial } from '../wire/broker-stream.ts';
import { logSink } from './log-sink.ts';

/** A stream that has begun to connect, with the login for it. */
export interface Opened {
  readonly stream: Duplex;
  readonly username?: string;
  readonly password?: string;
}

/** One side of a mirror. No text of it holds a secret. */
export interface Endpoint {
  /** The same for what may share a connection. */
  readonly key: string;
  /** The same for the same broker, as far as can be told. */
  readonly identity: string;
  /** For people. */
  readonly name: string;
  readonly clientId?: string;
  /** The plugin whose events are meant; undefined for all topics of a broker. */
  readonly plugin?: string;
  readonly isLog: boolean;
  /** A buffer of ours, which speaks MQTT 5 too. */
  readonly isBuffer?: true;
  /** Errors: `ARGUMENT_INVALID` for a secret that is not there, `BUS_URL_INVALID` for TLS files that cannot be read. */
  readonly open: () => Promise<Opened>;
  /** Where the broker runs in this process: for a connection that only subscribes, instead of `open`. */
  readonly openReader?: OpenReader | undefined;
}

export interface EndpointDeps {
  /** The broker of this stack. */
  readonly broker: BrokerAccess | null;
  /** A variable of the environment that a secret may be in. */
  readonly variable: (name: string) => string | undefined;
  /** Whether there is a folder for buffers. */
  readonly keepsBuffers: boolean;
  readonly log: Log;
}

const schemes: Readonly<Record<string, string>> = { tcp: 'mqtt', ssl: 'mqtts', tls: 'mqtts' };

/** An address as `parseBrokerUrl` has it: `tcp://` is `mqtt://`, and so is no scheme at all (GP-R3). */
const normalUrl = (text: string): string => {
  if (text.startsWith('unix:')) return text;
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(text) ?? [];
  if (scheme === undefined) return `mqtt://${text}`;
  return `${schemes[scheme.toLowerCase()] ?? scheme}://${rest}`;
};

const isUrl = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || /^unix:/.test(text) || /:\d+$/.test(text);

/** The plugin that a source names; undefined for a broker. The path of an old plugin socket names the plugin (GP §6.3). */
export const pluginOf = (source: MirrorSource): string | undefined => {
  if (typeof source !== 'string' || isUrl(source)) return undefined;
  return /^[~./]/.test(source) ? basename(source) : source;
};

const loopback = /^(localhost|127\..*|::1)$/i;

const identityOf = (address: BrokerAddress): string => {
  if (address.kind !== 'tcp' && address.kind !== 'tls') return describeBroker(address);
  const host = loopback.test(address.host) ? 'localhost' : address.host.toLowerCase();
  return `${host}:${address.port}`;
};

/** The broker of this stack may be known by an address for commands and one for others. */
const ownIdentities = ({ address, url }: BrokerAccess): string[] =>
  [address, ...(url === null ? [] : [parseBrokerUrl(url)])].map(identityOf);

const secretOf = async (reference: string, { variable }: EndpointDeps): Promise<string> => {
  const rest = reference.slice(reference.indexOf(':') + 1);
  if (reference.startsWith('env:')) {
    const value = variable(rest);
    if (value !== undefined) return value;
    throw new AppError('ARGUMENT_INVALID', `the variable ${rest}, which holds a password, is not set`);
  }
  try {
    return (await readFile(rest, 'utf8')).replace(/\r?\n$/, '');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('ARGUMENT_INVALID', `the file of a password cannot be read: ${why}`, { cause });
  }
};

/** TLS files by name, and whether any certificate will do. */
interface TlsWish {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly insecure?: boolean;
}

const materialOf = async (files: TlsWish): Promise<TlsMaterial> => {
  const read = async (path: string): Promise<Buffer> => {
    try {
      return await readFile(path);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AppError('BUS_URL_INVALID', `a TLS file cannot be read: ${why}`, { cause });
    }
  };
  return {
    ...(files.ca !== undefined && { ca: await read(files.ca) }),
    ...(files.cert !== undefined && { cert: await read(files.cert) }),
    ...(files.key !== undefined && { key: await read(files.key) }),
    ...(files.insecure === true && { insecure: true }),
  };
};

const filesOf = (address: BrokerAddress): TlsFiles =>
  address.kind === 'tls' || address.kind === 'wss' ? address.files : {};

/** The broker that runs this stack. */
const ownBroker = ({ address, openReader }: BrokerAccess): Omit<Endpoint, 'plugin'> => {
  const { username, password } = address;
  return {
    key: 'bus',
    identity: 'bus',
    name: 'the bus',
    isLog: false,
    openReader,
    open: async () => ({
      stream: brokerStream(address, await materialOf(filesOf(address))),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    }),
  };
};

const broker = (login: BrokerLogin, deps: EndpointDeps): Endpoint => {
  const address = parseBrokerUrl(normalUrl(login.URL));
  if (address.username !== undefined || address.password !== undefined) {
    throw new AppError(
      'SECRET_INLINE',
      'an address holds no user name and password: write Username, and Password as file:PATH or env:NAME',
    );
  }
  const { TLS, Username, Password, ClientID } = login;
  const isTls = address.kind === 'tls' || address.kind === 'wss';
  if (TLS !== undefined && !isTls) {
    throw new AppError('BUS_URL_INVALID', 'TLS is for addresses that begin with mqtts: or wss:');
  }
  if ((TLS?.cert === undefined) !== (TLS?.key === undefined)) {
    throw new AppError('BUS_URL_INVALID', 'cert and key of TLS go together');
  }
  if (Password !== undefined && Username === undefined) {
    throw new AppError('BUS_URL_INVALID', 'a Password needs a Username [MQTT-3.1.2-22]');
  }
  const files = { ...filesOf(address), ...TLS };
  const identity = identityOf(address);
  const isOwn = deps.broker !== null && ownIdentities(deps.broker).includes(identity);
  const name = describeBroker(address);
  return {
    key: canonicalJson({ name, Username, Password, files, ClientID }),
    identity: isOwn ? 'bus' : identity,
    name,
    ...(ClientID !== undefined && { clientId: ClientID }),
    isLog: false,
    // Who names a user is to have the rights of that user, as the broker gives them.
    ...(isOwn && Username === undefined && { openReader: deps.broker?.openReader }),
    open: async () => {
      const password = Password === undefined ? undefined : await secretOf(Password, deps);
      return {
        stream: brokerStream(address, await materialOf(files)),
        ...(Username !== undefined && { username: Username }),
        ...(password !== undefined && { password }),
      };
    },
  };
};

/**
 * The side that messages come from. Errors: `BUS_URL_INVALID`, `SECRET_INLINE`, `BUS_UNAVAILABLE` for a plugin where this stack
 * has no broker to tell.
 */
export const sourceEndpoint = (source: MirrorSource, deps: EndpointDeps): Endpoint => {
  const plugin = pluginOf(source);
  if (plugin === undefined) return broker(typeof source === 'string' ? { URL: source } : source, deps);
  if (deps.broker === null) {
    throw new AppError(
      'BUS_UNAVAILABLE',
      `the events of ${plugin} are on the broker of this stack, which is not known here`,
    );
  }
  return { ...ownBroker(deps.broker), name: plugin, plugin };
};

/** The side that messages go to. Errors: `BUS_URL_INVALID`, `SECRET_INLINE`. */
export const sinkEndpoint = (sink: MirrorSink, deps: EndpointDeps): Endpoint => {
  const { Protocol, ...login } = sink;
  if (Protocol === 'mqtt') return broker(login, deps);
  return {
    key: 'stderr',
    identity: 'stderr',
    name: 'stderr',
    isLog: true,
    open: async () => ({ stream: logSink(deps.log) }),
  };
};
