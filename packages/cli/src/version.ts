import { readFileSync } from 'node:fs';

/** Put in by the build; not there when the sources run as they are. */
declare const BUILD_REVISION: string;
declare const BUILD_VERSION: string;

/** The version of the package. */
export const version = (): string => {
  if (typeof BUILD_VERSION === 'string') return BUILD_VERSION;
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return manifest.version;
};

/** The commit that it was built from. */
export const revision = (): string => (typeof BUILD_REVISION === 'string' ? BUILD_REVISION : 'unknown');
