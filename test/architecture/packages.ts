/** What the sources of one package may import beside its own files. */
export interface PackageRule {
  /** Folders of the packages of this workspace that it may import. */
  readonly mayImport: readonly string[];
  /** Where it is pure: no I/O, clock, random or globals, and of other people's packages these only. */
  readonly pureWith?: readonly string[];
  /** Whether it may speak MQTT itself. */
  readonly mqtt?: boolean;
  /** Whether it is built into files that hold what it imports: it may then import what only its build needs. */
  readonly isBundled?: boolean;
  /** Which of its files may read argv and the environment, construct a logger, write to the console, compute an import. */
  readonly isRoot?: (file: string) => boolean;
}

const base = ['core', 'template', 'document', 'spi'];
const controllerRule: PackageRule = { mayImport: [...base, 'runtime'] };

const rules: Readonly<Record<string, PackageRule>> = {
  core: { mayImport: [], pureWith: ['zod'] },
  template: { mayImport: [], pureWith: ['re2js', 'jmespath', 'js-yaml'] },
  document: { mayImport: ['core', 'template'] },
  spi: { mayImport: ['core'] },
  runtime: { mayImport: base },
  bus: { mayImport: base, mqtt: true },
  group: controllerRule,
  enrollment: controllerRule,
  ingress: controllerRule,
  repeater: { ...controllerRule, mqtt: true },
  manager: controllerRule,
};
const upper = [...Object.keys(rules)];
const isAny = (): boolean => true;

/**
 * The rule of a package by its folder (DESIGN §2), undefined for an unknown one. `others` are the folders there are: `host` and
 * `cli` may import every plugin among them.
 */
export const packageRule = (folder: string, others: readonly string[]): PackageRule | undefined => {
  const plugins = others.filter((name) => name.startsWith('plugin-'));
  if (folder === 'host') {
    return { mayImport: [...upper, ...plugins], mqtt: true, isRoot: (file) => file === 'packages/host/src/main.ts' };
  }
  if (folder === 'cli')
    return { mayImport: [...upper, ...plugins, 'host'], mqtt: true, isBundled: true, isRoot: isAny };
  if (folder.startsWith('plugin-')) return { ...controllerRule, mqtt: true };
  return rules[folder];
};

/** The npm name of a package by its folder. */
export const packageName = (folder: string): string => (folder === 'cli' ? 'infrakit' : `@infrakit/${folder}`);
