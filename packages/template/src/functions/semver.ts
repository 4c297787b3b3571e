import { failCall } from '../errors.ts';
import { type FunctionTable, fn, method } from '../signature.ts';
import { type GoFunction, type GoObject, hasType, int, makeObject, type Shape, unsigned } from '../value/value.ts';
import { checkConstraint } from './semver-constraint.ts';
import { compareVersions, parseVersion, printVersion, type Version } from './semver-version.ts';

const TYPE = '*semver.Version';

const inside = (self: GoObject): Version => self.inner as Version;

const getter = (get: (version: Version) => unknown): GoFunction => method([], (_run, self) => get(inside(self)));

const versionIn = (value: unknown): Version =>
  hasType(value, TYPE) ? inside(value) : failCall('a version, as semver gives it, is wanted');

const comparison = (decide: (order: number) => unknown): GoFunction =>
  method(['any'], (_run, self, other) => decide(compareVersions(inside(self), versionIn(other))));

const VERSION: Shape = {
  type: TYPE,
  kind: 'ptr',
  print: (self) => printVersion(inside(self)),
  json: (self) => JSON.stringify(printVersion(inside(self))),
  methods: {
    Major: getter((version) => unsigned('uint64', version.major)),
    Minor: getter((version) => unsigned('uint64', version.minor)),
    Patch: getter((version) => unsigned('uint64', version.patch)),
    Prerelease: getter((version) => version.prerelease),
    Metadata: getter((version) => version.metadata),
    Original: getter((version) => version.original),
    String: getter(printVersion),
    Compare: comparison((order) => int(Math.sign(order))),
    Equal: comparison((order) => order === 0),
    LessThan: comparison((order) => order < 0),
    GreaterThan: comparison((order) => order > 0),
  },
};

/** sprig's functions on semantic versions. */
export const SEMVER_FUNCTIONS: FunctionTable = {
  semver: fn(['string'], (_run, text) => makeObject(VERSION, parseVersion(text))),
  semverCompare: fn(['string', 'string'], (_run, constraint, version) =>
    checkConstraint(constraint, () => parseVersion(version)),
  ),
};
