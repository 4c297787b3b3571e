import { RE2JS } from 're2js';
import { failCall } from '../errors.ts';
import { comparePrereleases, compareVersions, parseVersion, type Version } from './semver-version.ts';

/** A comparison such as `~1.2`, with what was left out or written as `x`. */
interface Constraint {
  readonly operator: string;
  readonly version: Version;
  /** Anything is missing. */
  readonly isDirty: boolean;
  readonly isMinorDirty: boolean;
  readonly isPatchDirty: boolean;
}

const IDENTIFIERS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const PART = '[0-9|xX*]+';
const LOOSE = `v?(${PART})(\\.${PART})?(\\.${PART})?(-${IDENTIFIERS})?(\\+${IDENTIFIERS})?`;
const LOOSE_UNGROUPED = `v?${PART}(?:\\.${PART})?(?:\\.${PART})?(?:-${IDENTIFIERS})?(?:\\+${IDENTIFIERS})?`;
const OPERATORS = '=||!=|>|<|>=|=>|<=|=<|~|~>|\\^';
const ONE = `(?:${OPERATORS})\\s*${LOOSE_UNGROUPED}`;

/** Compiled when first needed; by RE2, whose time does not explode on hostile texts. */
const lazily = (pattern: string): (() => RE2JS) => {
  let compiled: RE2JS | undefined;
  return () => {
    compiled ??= RE2JS.compile(pattern);
    return compiled;
  };
};

const VALID = lazily(`^\\s*${ONE}\\s*(?:(?:\\s+|,\\s*)${ONE}\\s*)*$`);
const EACH = lazily(ONE);
const RANGE = lazily(`\\s*(${LOOSE_UNGROUPED})\\s+-\\s+(${LOOSE_UNGROUPED})\\s*`);
const PARTS = new RegExp(`^\\s*(=>|=<|>=|<=|!=|~>|=|>|<|~|\\^|)\\s*${LOOSE}\\s*$`);

const MAX_LENGTH = 1000;

const isAny = (part: string): boolean => part === '' || /^[xX*]$/.test(part.replace(/^\./, ''));

const parseConstraint = (text: string): Constraint => {
  const found = PARTS.exec(text);
  if (found === null) {
    return failCall(`improper constraint: ${text}`);
  }
  const [, operator = '', major = '', minor = '', patch = '', prerelease = ''] = found;
  const isMajorAny = isAny(major);
  const isMinorAny = !isMajorAny && isAny(minor);
  const isPatchAny = !isMajorAny && !isMinorAny && isAny(patch);
  const numbers = isMajorAny ? '0.0.0' : isMinorAny ? `${major}.0.0` : isPatchAny ? `${major}${minor}.0` : undefined;
  return {
    operator,
    version: parseVersion(numbers === undefined ? `${major}${minor}${patch}${prerelease}` : numbers + prerelease),
    isDirty: isMajorAny || isMinorAny || isPatchAny,
    isMinorDirty: isMinorAny,
    isPatchDirty: isPatchAny,
  };
};

/** A prerelease satisfies only comparisons with a prerelease. */
const isShut = (version: Version, { version: bound }: Constraint): boolean =>
  version.prerelease !== '' && bound.prerelease === '';

const isNotEqual = (version: Version, constraint: Constraint): boolean => {
  const { version: bound, isDirty, isMinorDirty, isPatchDirty } = constraint;
  if (!isDirty) {
    return compareVersions(version, bound) !== 0;
  }
  if (isShut(version, constraint)) {
    return false;
  }
  if (bound.major !== version.major) {
    return true;
  }
  if (isMinorDirty) {
    return false;
  }
  if (bound.minor !== version.minor) {
    return true;
  }
  return isPatchDirty
    ? comparePrereleases(version.prerelease, bound.prerelease) !== 0
    : compareVersions(version, bound) !== 0;
};

const isGreater = (version: Version, { version: bound, isDirty, isMinorDirty, isPatchDirty }: Constraint): boolean => {
  if (!isDirty || version.major !== bound.major) {
    return isDirty ? version.major > bound.major : compareVersions(version, bound) > 0;
  }
  if (isMinorDirty) {
    return false;
  }
  return isPatchDirty ? version.minor > bound.minor : compareVersions(version, bound) > 0;
};

const isLessOrEqual = (version: Version, { version: bound, isDirty, isMinorDirty }: Constraint): boolean => {
  if (!isDirty) {
    return compareVersions(version, bound) <= 0;
  }
  return (
    version.major <= bound.major && !(version.major === bound.major && version.minor > bound.minor && !isMinorDirty)
  );
};

const isTilde = (version: Version, { version: bound, isMinorDirty, isPatchDirty }: Constraint): boolean => {
  if (compareVersions(version, bound) < 0) {
    return false;
  }
  const isNought = bound.major === 0n && bound.minor === 0n && bound.patch === 0n;
  if (isNought && !isMinorDirty && !isPatchDirty) {
    return true;
  }
  return version.major === bound.major && (version.minor === bound.minor || isMinorDirty);
};

const isCaret = (version: Version, { version: bound, isMinorDirty, isPatchDirty }: Constraint): boolean => {
  if (compareVersions(version, bound) < 0 || version.major !== bound.major) {
    return false;
  }
  if (bound.major > 0n || isMinorDirty) {
    return true;
  }
  if (version.minor !== bound.minor) {
    return false;
  }
  return bound.minor > 0n || isPatchDirty || bound.patch === version.patch;
};

const satisfies = (version: Version, constraint: Constraint): boolean => {
  const { operator, version: bound } = constraint;
  if (operator === '!=') {
    return isNotEqual(version, constraint);
  }
  if (isShut(version, constraint)) {
    return false;
  }
  switch (operator) {
    case '>':
      return isGreater(version, constraint);
    case '<':
      return compareVersions(version, bound) < 0;
    case '>=':
    case '=>':
      return compareVersions(version, bound) >= 0;
    case '<=':
    case '=<':
      return isLessOrEqual(version, constraint);
    case '~':
    case '~>':
      return isTilde(version, constraint);
    case '^':
      return isCaret(version, constraint);
    default:
      return constraint.isDirty ? isTilde(version, constraint) : compareVersions(version, bound) === 0;
  }
};

const each = (text: string): string[] => {
  const matcher = EACH().matcher(text);
  const found: string[] = [];
  while (matcher.find()) {
    found.push(matcher.group() ?? '');
  }
  return found;
};

const parseAlternative = (text: string): Constraint[] =>
  VALID().matches(text) ? each(text).map(parseConstraint) : failCall(`improper constraint: ${text}`);

/** Whether a version satisfies a constraint such as `>=1.2, <2 || ~3.1`, as Masterminds/semver 3 decides. */
export const checkConstraint = (text: string, versionOf: () => Version): boolean => {
  if (text.length > MAX_LENGTH) {
    return failCall(`the constraint is longer than ${MAX_LENGTH} characters`);
  }
  const alternatives = RANGE().matcher(text).replaceAll('>= $1, <= $2').split('||').map(parseAlternative);
  const version = versionOf();
  return alternatives.some((all) => all.every((constraint) => satisfies(version, constraint)));
};
