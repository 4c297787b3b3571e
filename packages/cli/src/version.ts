import { readFileSync } from 'node:fs';

/** The version that the package.json beside this file's folder gives. */
export const version = (): string => {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return manifest.version;
};
