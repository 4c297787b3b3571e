import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireProgram } from '../programs.mjs';

const run = promisify(execFile);

/** PEM files of one authority, and of a server and a client that it vouches for. */
export interface Certificates {
  readonly ca: string;
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Makes certificates for `localhost` and 127.0.0.1 in a folder, good for two days. */
export const makeCertificates = async (folder: string): Promise<Certificates> => {
  const openssl = (...args: string[]) => run(requireProgram('openssl'), args, { cwd: folder });
  const file = (name: string): string => join(folder, name);
  await openssl('req', '-x509', ...curve, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test-ca');
  await writeFile(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const issue = async (name: string) => {
    await openssl('req', ...curve, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    await openssl('x509', '-req', '-in', `${name}.csr`, ...authority, '-out', `${name}.pem`);
    return { cert: file(`${name}.pem`), key: file(`${name}.key`) };
  };
  return { ca: file('ca.pem'), server: await issue('server'), client: await issue('client') };
};
