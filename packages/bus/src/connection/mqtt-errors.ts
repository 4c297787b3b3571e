import { AppError } from '@infrakit/core';

/** CONNACK codes that mean "not this version", of 3.1.1 and of 5. */
const versionCodes: readonly unknown[] = [1, 0x84];

/** Codes of CONNACK, SUBACK, PUBACK and DISCONNECT that a wait does not mend, with what they mean to whoever set us up. */
const refusals = new Map<unknown, string>([
  [2, 'does not accept the client id'],
  [0x85, 'does not accept the client id'],
  [4, 'does not accept the user name and password'],
  [0x86, 'does not accept the user name and password'],
  [5, 'does not authorise us'],
  [0x87, 'does not authorise us'],
  [0x8a, 'has banned us'],
  [0x8c, 'wants another way to authenticate'],
  [0x80, 'refuses this'],
  [0x8f, 'does not accept the topic filter'],
  [0x90, 'does not accept the topic'],
  [0x95, 'does not take packets of this size'],
  [0x9a, 'retains nothing'],
  [0x9b, 'does not offer this QoS'],
  [0xa2, 'allows no wildcards'],
  [1, 'speaks neither MQTT 5 nor 3.1.1'],
  [0x84, 'speaks neither MQTT 5 nor 3.1.1'],
]);

const absences = new Map<unknown, string>([
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOENT', 'there is no such socket'],
  ['ENOTFOUND', 'the name of the host is not known'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up now'],
  ['ECONNRESET', 'the connection was cut'],
  ['EPIPE', 'the connection was cut'],
  ['ETIMEDOUT', 'the host does not answer'],
  ['EHOSTUNREACH', 'there is no way to the host'],
  ['ENETUNREACH', 'there is no way to the host'],
]);

const tlsCode = /^(ERR_SSL_|ERR_TLS_|EPROTO$|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|ERR_OSSL)/;

const codeOf = (cause: unknown): unknown =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** What an old broker does with a version that it does not know: it says so, or cuts the connection without a word. */
export const mayBeVersion = (cause: unknown): boolean =>
  cause === undefined || [...versionCodes, 'ECONNRESET', 'EPIPE'].includes(codeOf(cause));

/**
 * What went wrong with a broker, in one sentence: `BUS_REFUSED` when it does not want us and only a change of the
 * set-up helps, else `BUS_UNAVAILABLE`. `cause` is what the client or the socket said.
 */
export const mqttError = (broker: string, cause: unknown): AppError => {
  if (cause instanceof AppError) return cause;
  const code = codeOf(cause);
  const facts = { broker, ...(code === undefined ? {} : { reason: code }) };
  const refusal = refusals.get(code);
  if (refusal !== undefined) return new AppError('BUS_REFUSED', `${broker} ${refusal}`, { facts, cause });
  if (code === 'EACCES' || code === 'EPERM') {
    return new AppError('BUS_REFUSED', `cannot reach ${broker}: we may not open it`, { facts, cause });
  }
  if (typeof code === 'string' && tlsCode.test(code)) {
    return new AppError('BUS_REFUSED', `no secure connection to ${broker}: ${messageOf(cause)}`, { facts, cause });
  }
  const why = absences.get(code) ?? messageOf(cause);
  return new AppError('BUS_UNAVAILABLE', `cannot reach ${broker}: ${why}`, { facts, cause });
};
