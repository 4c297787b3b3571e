import { AppError } from '../errors.ts';

/** Files with TLS material, PEM: authorities to trust instead of the system's, and our certificate with its key. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Where a broker is and who we are to it. */
export type BrokerAddress = { readonly username?: string; readonly password?: string } & (
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'tls'; readonly host: string; readonly port: number; readonly files: TlsFiles }
  | { readonly kind: 'ws'; readonly url: string }
  | { readonly kind: 'wss'; readonly url: string; readonly files: TlsFiles }
);

const kinds = { 'mqtt:': 'tcp', 'mqtts:': 'tls', 'ws:': 'ws', 'wss:': 'wss' } as const;
const defaultPorts = { tcp: 1883, tls: 8883 } as const;
const tlsNames = ['ca', 'cert', 'key'] as const;

// The text may hold a password: it is never repeated.
const invalid = (why: string): AppError => new AppError('BUS_URL_INVALID', `not the address of a broker: ${why}`);

const decoded = (part: string, what: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid(`the ${what} has a broken %-escape`);
  }
};

const credentialsOf = ({ username, password }: URL): { username?: string; password?: string } => {
  // [MQTT-3.1.2-22]: no password without a user name.
  if (username === '' && password !== '') throw invalid('it has a password without a user name');
  return {
    ...(username === '' ? {} : { username: decoded(username, 'user name') }),
    ...(password === '' ? {} : { password: decoded(password, 'password') }),
  };
};

const tlsFilesOf = (url: URL): TlsFiles => {
  const files: { ca?: string; cert?: string; key?: string } = {};
  for (const [name, value] of url.searchParams) {
    const known = tlsNames.find((each) => each === name);
    if (known === undefined) throw invalid(`"${name}" is not known after "?"; known are ${tlsNames.join(', ')}`);
    if (value === '' || files[known] !== undefined) throw invalid(`"${name}" must name one file`);
    files[known] = value;
  }
  if ((files.cert === undefined) !== (files.key === undefined)) throw invalid('cert and key go together');
  return files;
};

const parseUnix = (text: string): BrokerAddress => {
  const path = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '' || path.startsWith('//')) throw invalid('unix: must be followed by the path of a socket');
  return { kind: 'unix', path };
};

/**
 * The broker that an address names: `mqtt[s]://[user[:password]@]host[:port]`, `ws[s]://…/path`, `unix:/path`. TLS files
 * are given as `?ca=…&cert=…&key=…`. Default ports: 1883, 8883, 80, 443. Errors: `BUS_URL_INVALID`, in one sentence
 * that holds no password.
 */
export const parseBrokerUrl = (text: string): BrokerAddress => {
  if (text.startsWith('unix:')) return parseUnix(text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalid('write mqtt://host:port, mqtts://…, ws://…, wss://… or unix:/path');
  const kind = Object.entries(kinds).find(([scheme]) => scheme === url.protocol)?.[1];
  if (kind === undefined) {
    throw invalid(`it begins with "${url.protocol.slice(0, 20)}" and not with mqtt:, mqtts:, ws:, wss: or unix:`);
  }
  if (url.hostname === '') throw invalid('it names no host');
  if (url.hash !== '') throw invalid('it has a part after "#"; write %23 for # in a password');
  const credentials = credentialsOf(url);
  const isTls = kind === 'tls' || kind === 'wss';
  if (!isTls && url.search !== '') throw invalid('only mqtts: and wss: take anything after "?"');
  if (kind === 'ws') return { kind, url: `ws://${url.host}${url.pathname}`, ...credentials };
  const files = tlsFilesOf(url);
  if (kind === 'wss') return { kind, url: `wss://${url.host}${url.pathname}`, files, ...credentials };
  if (url.pathname !== '' && url.pathname !== '/') throw invalid('only ws: and wss: take a path');
  if (url.port === '0') throw invalid('nothing can be reached at port 0');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? defaultPorts[kind] : Number(url.port);
  return kind === 'tls' ? { kind, host, port, files, ...credentials } : { kind, host, port, ...credentials };
};

/** An address for people to read: without user name and password. */
export const describeBroker = (address: BrokerAddress): string => {
  if (address.kind === 'unix') return `unix:${address.path}`;
  if (address.kind === 'ws' || address.kind === 'wss') return address.url;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${address.kind === 'tls' ? 'mqtts' : 'mqtt'}://${host}:${address.port}`;
};
