import { failCall } from '../errors.ts';
import { type FunctionTable, fn } from '../signature.ts';
import { GO, type GoFunction, type GoObject, unsigned } from '../value/value.ts';
import { checkConstraint } from './semver-constraint.ts';
import { compareVersions, parseVersion, printVersion, type Version } from './semver-version.ts';

const getter = (get: () => unknown): GoFunction => fn([], get);

const versionOf = (value: unknown): Version =>
  typeof value === 'object' && value !== null && (value as Partial<GoObject>).type === '*semver.Version'
    ? ((value as GoObject).inner as Version)
    : failCall('a version, as semver gives it, is wanted');

const comparison = (version: Version, decide: (order: number) => unknown): GoFunction =>
  fn(['any'], (_run, other) => decide(compareVersions(version, versionOf(other))));

const toValue = (version: Version): GoObject => ({
  [GO]: 'object',
  type: '*semver.Version',
  kind: 'ptr',
  isNil: false,
  inner: version,
  print: () => printVersion(version),
  json: () => JSON.stringify(printVersion(version)),
  methods: {
    Major: getter(() => unsigned('uint64', version.major)),
    Minor: getter(() => unsigned('uint64', version.minor)),
    Patch: getter(() => unsigned('uint64', version.patch)),
    Prerelease: getter(() => version.prerelease),
    Metadata: getter(() => version.metadata),
    Original: getter(() => version.original),
    String: getter(() => printVersion(version)),
    Compare: comparison(version, (order) => toInt(order)),
    Equal: comparison(version, (order) => order === 0),
    LessThan: comparison(version, (order) => order < 0),
    GreaterThan: comparison(version, (order) => order > 0),
  },
});

const toInt = (order: number): unknown => ({ [GO]: 'int', type: 'int', value: BigInt(Math.sign(order)) });

/** sprig's functions on semantic versions. */
export const SEMVER_FUNCTIONS: FunctionTable = {
  semver: fn(['string'], (_run, text) => toValue(parseVersion(text))),
  semverCompare: fn(['string', 'string'], (_run, constraint, version) =>
    checkConstraint(constraint, () => parseVersion(version)),
  ),
};
