import { createHash } from 'node:crypto';
import type { Tags } from '@infrakit/core';

/** The label that says that a container is ours, and whose: the endpoint's name. */
export const ownerLabel = 'infrakit.docker.endpoint';

const tagPrefix = 'infrakit.tag.';
const keyLabel = 'infrakit.docker.key';
const logicalIdLabel = 'infrakit.docker.logical-id';
const propertiesLabel = 'infrakit.docker.properties';

/** Engines split a label at its first `=`: in the name of a tag it is written `%3D`, and `%` as `%25`. */
const encodeTag = (name: string): string => name.replaceAll('%', '%25').replaceAll('=', '%3D');
const decodeTag = (name: string): string => name.replaceAll('%3D', '=').replaceAll('%25', '%');

/** What a container is labelled with when it is made; the engine changes no label later. */
export interface Marks {
  readonly endpoint: string;
  readonly tags: Tags;
  readonly logicalId: string | null;
  readonly key: string | undefined;
  readonly properties: unknown;
}

/** The marks as labels. */
export const labelsOf = ({ endpoint, tags, logicalId, key, properties }: Marks): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [tagPrefix + encodeTag(name), value])),
  [ownerLabel]: endpoint,
  [propertiesLabel]: JSON.stringify(properties),
  ...(logicalId !== null && { [logicalIdLabel]: logicalId }),
  ...(key !== undefined && { [keyLabel]: key }),
});

/** The marks of a container by its labels; undefined for one that is not this endpoint's. */
export const marksOf = (labels: Readonly<Record<string, string>>, endpoint: string): Marks | undefined => {
  if (labels[ownerLabel] !== endpoint) return undefined;
  const tags = Object.entries(labels).flatMap(([name, value]) =>
    name.startsWith(tagPrefix) ? [[decodeTag(name.slice(tagPrefix.length)), value] as const] : [],
  );
  let properties: unknown = null;
  try {
    properties = JSON.parse(labels[propertiesLabel] ?? 'null');
  } catch {
    // Somebody wrote the label by hand: what the container runs is still told by the engine.
  }
  return {
    endpoint,
    tags: Object.fromEntries(tags),
    logicalId: labels[logicalIdLabel] ?? null,
    key: labels[keyLabel],
    properties,
  };
};

/** The name of the container that is made for a key: the engine lets no name be used twice, whoever asks (Law 7). */
export const nameOf = (endpoint: string, key: string): string =>
  `infrakit-${createHash('sha256').update(`${endpoint}\n${key}`).digest('hex').slice(0, 32)}`;
