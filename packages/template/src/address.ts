import { cleanPath } from './functions/paths.ts';

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*)(.*)$/s;

/** The text that a `str://` address is, or undefined for other addresses. */
export const literalText = (address: string): string | undefined =>
  address.startsWith('str://') ? address.slice('str://'.length) : undefined;

const join = (base: string, relative: string): string =>
  relative.startsWith('/') ? cleanPath(relative) : cleanPath(`${base.slice(0, base.lastIndexOf('/') + 1)}${relative}`);

/**
 * A relative address seen from the template at `base`: beside it, as `include "other.tpl"` means it. Addresses with a scheme
 * stay as they are. Bases are URLs or paths.
 */
export const resolveAddress = (base: string, address: string): string => {
  if (SCHEME.test(address)) {
    return address;
  }
  const [, origin, path] = SCHEME.exec(base) ?? [];
  return origin === undefined || path === undefined
    ? join(base, address)
    : origin + join(path === '' ? '/' : path, address);
};
