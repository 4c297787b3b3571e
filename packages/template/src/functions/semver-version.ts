import { failCall } from '../errors.ts';
import { compareText } from '../text/bytes.ts';

/** A semantic version; parts that were left out are 0. */
export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: string;
  readonly metadata: string;
  readonly original: string;
}

const IDENTIFIERS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const VERSION = new RegExp(
  `^v?([0-9]+)(?:\\.([0-9]+))?(?:\\.([0-9]+))?(?:-(${IDENTIFIERS}))?(?:\\+(${IDENTIFIERS}))?$`,
);

const MAX_UINT64 = 2n ** 64n - 1n;

const segment = (digits: string): bigint => {
  const value = digits.length > 20 ? MAX_UINT64 + 1n : BigInt(digits);
  return value > MAX_UINT64 ? failCall(`Error parsing version segment: ${digits.slice(0, 30)} is out of range`) : value;
};

/** Reads a version such as `1.2.3-rc.1+build`; minor and patch may be missing. */
export const parseVersion = (text: string): Version => {
  const found = VERSION.exec(text);
  if (found === null) {
    return failCall('Invalid Semantic Version');
  }
  const [, major = '0', minor = '0', patch = '0', prerelease = '', metadata = ''] = found;
  if (prerelease.split('.').some((part) => /^0[0-9]+$/.test(part))) {
    return failCall('Version segment starts with 0');
  }
  return {
    major: segment(major),
    minor: segment(minor),
    patch: segment(patch),
    prerelease,
    metadata,
    original: text,
  };
};

export const printVersion = (version: Version): string =>
  `${version.major}.${version.minor}.${version.patch}` +
  (version.prerelease === '' ? '' : `-${version.prerelease}`) +
  (version.metadata === '' ? '' : `+${version.metadata}`);

const comparePart = (a: string, b: string): number => {
  if (a === b) {
    return 0;
  }
  if (a === '' || b === '') {
    return a === '' ? -1 : 1;
  }
  const [isNumberA, isNumberB] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)];
  if (isNumberA && isNumberB) {
    return BigInt(a) > BigInt(b) ? 1 : -1;
  }
  return isNumberA !== isNumberB ? (isNumberA ? -1 : 1) : compareText(a, b);
};

/** Order of two prereleases; a release comes after all of them. */
export const comparePrereleases = (a: string, b: string): number => {
  if (a === b) {
    return 0;
  }
  if (a === '' || b === '') {
    return a === '' ? 1 : -1;
  }
  const [left, right] = [a.split('.'), b.split('.')];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = comparePart(left[i] ?? '', right[i] ?? '');
    if (order !== 0) {
      return order;
    }
  }
  return 0;
};

const sign = (difference: bigint): number => (difference > 0n ? 1 : difference < 0n ? -1 : 0);

/** Negative, 0 or positive; metadata does not count. */
export const compareVersions = (a: Version, b: Version): number =>
  sign(a.major - b.major) ||
  sign(a.minor - b.minor) ||
  sign(a.patch - b.patch) ||
  comparePrereleases(a.prerelease, b.prerelease);
