import { compareUtf8 } from '@infrakit/core';
import { type BusObject, scopeOf } from './objects.ts';
import type { Verb } from './verb.ts';

/** What is known of a verb without loading it. */
export interface VerbEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** The interface it belongs to. */
  readonly of: string;
  readonly summary: string;
  /** The words of an example after the verb. `NAME` stands for a name, which the object of that one does not take. */
  readonly example: string;
  readonly load: () => Promise<{ readonly default: Verb<never> }>;
}

/**
 * All verbs of objects. Where an object answers to several interfaces that have a verb of one name, the first entry here
 * counts: Controller, Group, Instance, Flavor, L4, Metadata, Event (GP-C4).
 */
const verbs: readonly VerbEntry[] = [
  {
    name: 'commit',
    of: 'Controller',
    summary: 'make reality follow a spec file',
    example: '-y NAME.yml --wait',
    load: () => import('./verbs/commit.ts'),
  },
  {
    name: 'plan',
    of: 'Controller',
    summary: 'say what a commit would do',
    example: '-y NAME.yml',
    load: () => import('./verbs/plan.ts'),
  },
  {
    name: 'describe',
    of: 'Controller',
    summary: 'show what is committed, and its state',
    example: 'NAME -o',
    load: () => import('./verbs/describe.ts'),
  },
  {
    name: 'free',
    of: 'Controller',
    summary: 'stop keeping it, leave everything as it is',
    example: 'NAME',
    load: () => import('./verbs/free.ts'),
  },
  {
    name: 'approve',
    of: 'Controller',
    summary: 'let the held plan through, once',
    example: 'NAME --plan vira22lcq6cja4vj',
    load: () => import('./verbs/approve.ts'),
  },
  {
    name: 'hold',
    of: 'Controller',
    summary: 'stop acting until resumed',
    example: "NAME --reason 'the rack is being moved'",
    load: () => import('./verbs/hold.ts'),
  },
  {
    name: 'resume',
    of: 'Controller',
    summary: 'go on after a hold',
    example: 'NAME',
    load: () => import('./verbs/resume.ts'),
  },
  {
    name: 'explain',
    of: 'Controller',
    summary: 'say why an entry is where it is',
    example: 'NAME 1796104509364392000',
    load: () => import('./verbs/explain.ts'),
  },
  {
    name: 'adopt',
    of: 'Controller',
    summary: 'take untagged entries over',
    example: 'NAME 1796104509364392000',
    load: () => import('./verbs/adopt.ts'),
  },
  { name: 'ls', of: 'Group', summary: 'list the members', example: 'NAME', load: () => import('./verbs/group-ls.ts') },
  {
    name: 'scale',
    of: 'Group',
    summary: 'show the size, or set it',
    example: 'NAME 20 --wait',
    load: () => import('./verbs/scale.ts'),
  },
  {
    name: 'inspect',
    of: 'Group',
    summary: 'print the committed spec',
    example: 'NAME',
    load: () => import('./verbs/inspect.ts'),
  },
  { name: 'groups', of: 'Group', summary: 'list the groups', example: '', load: () => import('./verbs/groups.ts') },
  {
    name: 'commit-group',
    of: 'Group',
    summary: 'commit a group, in either envelope',
    example: 'NAME.json',
    load: () => import('./verbs/commit-group.ts'),
  },
  {
    name: 'destroy-instance',
    aliases: ['destroy-instances'],
    of: 'Group',
    summary: 'destroy members by id and lower the size',
    example: 'NAME 1796104509364392000 --wait',
    load: () => import('./verbs/destroy-instance.ts'),
  },
  {
    name: 'destroy',
    of: 'Group',
    summary: 'destroy the group and its members',
    example: 'NAME --wait',
    load: () => import('./verbs/group-destroy.ts'),
  },
  {
    name: 'free-group',
    of: 'Group',
    summary: 'stop keeping the group, leave its members',
    example: 'NAME',
    load: () => import('./verbs/free-group.ts'),
  },
  {
    name: 'destroy',
    of: 'Controller',
    summary: 'stop keeping it and forget it',
    example: 'NAME --wait',
    load: () => import('./verbs/rule-destroy.ts'),
  },
  {
    name: 'describe',
    of: 'Instance',
    summary: 'list the instances',
    example: '--tags infrakit.group=cattle',
    load: () => import('./verbs/instance-describe.ts'),
  },
  {
    name: 'provision',
    of: 'Instance',
    summary: 'make an instance from a spec file',
    example: '-y instance.yml',
    load: () => import('./verbs/provision.ts'),
  },
  {
    name: 'destroy',
    of: 'Instance',
    summary: 'destroy instances by id',
    example: '1796104509364392000',
    load: () => import('./verbs/instance-destroy.ts'),
  },
  {
    name: 'validate',
    of: 'Instance',
    summary: 'check properties',
    example: '-y instance.yml',
    load: () => import('./verbs/validate.ts'),
  },
  {
    name: 'label',
    of: 'Instance',
    summary: 'add or change tags of an instance',
    example: '1796104509364392000 tier=meadow',
    load: () => import('./verbs/label.ts'),
  },
  {
    name: 'routes',
    of: 'L4',
    summary: 'list, add or remove routes',
    example: 'ls',
    load: () => import('./verbs/routes.ts'),
  },
  {
    name: 'backends',
    of: 'L4',
    summary: 'list, add or remove backends',
    example: 'ls',
    load: () => import('./verbs/backends.ts'),
  },
  {
    name: 'keys',
    of: 'Metadata',
    summary: 'list the children of a path',
    example: '',
    load: () => import('./verbs/keys.ts'),
  },
  {
    name: 'cat',
    of: 'Metadata',
    summary: 'print the value at a path',
    example: '.',
    load: () => import('./verbs/cat.ts'),
  },
  { name: 'topics', of: 'Event', summary: 'list topics', example: '', load: () => import('./verbs/topics.ts') },
  { name: 'tail', of: 'Event', summary: 'follow events', example: '', load: () => import('./verbs/tail.ts') },
  {
    name: 'tail',
    of: 'Group',
    summary: 'follow the events of members',
    example: '',
    load: () => import('./verbs/tail.ts'),
  },
];

/** The verbs of an object, one of each name, sorted. */
export const verbsOf = ({ interfaces }: Pick<BusObject, 'interfaces'>): VerbEntry[] => {
  const byName = new Map<string, VerbEntry>();
  for (const entry of verbs) {
    if (interfaces.has(entry.of) && !byName.has(entry.name)) byName.set(entry.name, entry);
  }
  return [...byName.values()].sort((left, right) => compareUtf8(left.name, right.name));
};

/** The verb of a name or alias. */
export const findVerb = (entries: readonly VerbEntry[], word: string): VerbEntry | undefined =>
  entries.find(({ name, aliases = [] }) => name === word || aliases.includes(word));

/** An example of a verb of an object, as a person types it. */
export const exampleOf = (object: BusObject, { name, example }: VerbEntry): string => {
  const isNamed = !/^NAME( |$)/.test(example) || scopeOf(object) === null;
  const words = isNamed ? example.replace('NAME', scopeOf(object) ?? 'cattle') : example.replace(/^NAME ?/, '');
  return ['infrakit local', object.name, name, words].filter((part) => part !== '').join(' ');
};
