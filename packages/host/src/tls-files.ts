import { readFile } from 'node:fs/promises';
import type { BrokerAddress, TlsMaterial } from '@infrakit/bus';
import { AppError } from '@infrakit/core';

/** The TLS material that an address names; none for a plain one. Errors: `BUS_URL_INVALID`. */
export const readTls = async (address: BrokerAddress): Promise<TlsMaterial> => {
  if (address.kind !== 'tls' && address.kind !== 'wss') return {};
  const read = async (path: string): Promise<Buffer> => {
    try {
      return await readFile(path);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AppError('BUS_URL_INVALID', `INFRAKIT_BROKER: a TLS file cannot be read: ${why}`, { cause });
    }
  };
  const { ca, cert, key } = address.files;
  return {
    ...(ca === undefined ? {} : { ca: await read(ca) }),
    ...(cert === undefined ? {} : { cert: await read(cert) }),
    ...(key === undefined ? {} : { key: await read(key) }),
  };
};
