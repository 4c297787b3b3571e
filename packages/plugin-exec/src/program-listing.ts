import { createHash } from 'node:crypto';
import {
  canonicalJson,
  compareUtf8,
  digest,
  type InstanceDescription,
  matchesTags,
  suggest,
  type Tags,
} from '@infrakit/core';
import { frozenCopy, type InstanceListing } from '@infrakit/spi';
import { badAnswer, shown } from './program-answer.ts';

type Listing = InstanceListing & { readonly kind: 'instances' };
type Entry = Readonly<Record<string, unknown>>;

const texts = ['Address', 'State', 'Created'] as const;
const fields: readonly string[] = ['ID', 'LogicalID', 'Tags', 'Properties', 'Requests', ...texts];

const isRecord = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTags = (value: unknown): value is Tags =>
  isRecord(value) && Object.values(value).every((each) => typeof each === 'string');

/** What the requests that a program was given for one instance, replayed in order, make of it. */
const replay = (requests: unknown, at: string): Entry => {
  const fault = badAnswer('describe', `${at}.Requests must be the requests of provision and label as they came`);
  if (!Array.isArray(requests)) throw fault;
  let [spec, tags]: [Entry, Entry] = [{}, {}];
  for (const request of requests) {
    if (!isRecord(request) || !isRecord(request.params)) throw fault;
    const { spec: asked, labels = {} } = request.params;
    if (request.verb === 'provision' && isRecord(asked)) {
      spec = asked;
      tags = isRecord(asked.Tags) ? asked.Tags : {};
    } else if (request.verb === 'label' && isRecord(labels)) tags = { ...tags, ...labels };
    else throw fault;
  }
  return { Tags: tags, LogicalID: spec.LogicalID ?? null, Properties: spec.Properties };
};

/** One entry of an answer as a description, checked by hand: there may be thousands. */
const descriptionOf = (entry: unknown, at: string): InstanceDescription => {
  if (!isRecord(entry)) throw badAnswer('describe', `${at} must be an object, not ${shown(JSON.stringify(entry))}`);
  for (const name of Object.keys(entry)) {
    if (fields.includes(name)) continue;
    const near = suggest(name, fields);
    const hint = near === undefined ? `known are ${fields.join(', ')}` : `did you mean ${near}?`;
    throw badAnswer('describe', `${at} has an unknown member ${shown(name)}; ${hint}`);
  }
  const { Requests, ...own } = entry;
  const all: Entry = Requests === undefined ? own : { ...replay(Requests, at), ...own };
  const { ID, LogicalID = null, Tags = null, Properties } = all;
  if (typeof ID !== 'string' || ID === '') throw badAnswer('describe', `${at}.ID must be a text that is not empty`);
  if (LogicalID !== null && typeof LogicalID !== 'string') {
    throw badAnswer('describe', `${at}.LogicalID must be a text or null`);
  }
  if (Tags !== null && !isTags(Tags)) {
    throw badAnswer('describe', `${at}.Tags must be an object of texts, or null`);
  }
  const description: Record<string, unknown> = { ID, LogicalID, Tags };
  for (const name of texts) {
    const value = all[name];
    if (value === undefined) continue;
    if (typeof value !== 'string') throw badAnswer('describe', `${at}.${name} must be a text`);
    description[name] = value;
  }
  if (Properties !== undefined) description.Properties = Properties;
  return description as InstanceDescription;
};

/** The instances of an answer to `describe` that match, sorted by id; their digest is that of what is shown. */
export const programListing = (
  answer: Readonly<Record<string, unknown>>,
  query: { readonly tags: Tags; readonly properties: boolean },
): Listing => {
  const { instances } = answer;
  if (!Array.isArray(instances)) {
    throw badAnswer('describe', 'the answer must be {"instances": […]}; when there are none, {"instances": []}');
  }
  const seen = new Set<string>();
  const matching: InstanceDescription[] = [];
  for (const [index, entry] of instances.entries()) {
    const { Properties, ...rest } = descriptionOf(entry, `instances[${index}]`);
    if (seen.has(rest.ID)) throw badAnswer('describe', `the ID ${shown(rest.ID)} stands twice in the list`);
    seen.add(rest.ID);
    if (!matchesTags(rest.Tags, query.tags)) continue;
    matching.push(query.properties && Properties !== undefined ? { ...rest, Properties } : rest);
  }
  matching.sort((left, right) => compareUtf8(left.ID, right.ID));
  return frozenCopy({
    kind: 'instances' as const,
    digest: digest([query.tags, query.properties, matching]),
    instances: matching,
  });
};

const keptQueries = 32;

/** Listings by query, made anew only when the program prints something else. */
export const listingMemory = () => {
  const kept = new Map<string, { readonly hash: string; readonly listing: Listing }>();
  return (
    stdout: Buffer,
    query: { readonly tags: Tags; readonly properties: boolean },
    read: () => Readonly<Record<string, unknown>>,
  ): Listing => {
    const key = canonicalJson([query.tags, query.properties]);
    const hash = createHash('sha256').update(stdout).digest('base64');
    const known = kept.get(key);
    if (known?.hash === hash) return known.listing;
    const made = programListing(read(), query);
    // What shows the same in another order is the same list.
    const listing = known?.listing.digest === made.digest ? known.listing : made;
    kept.delete(key);
    kept.set(key, { hash, listing });
    for (const oldest of kept.keys()) {
      if (kept.size <= keptQueries) break;
      kept.delete(oldest);
    }
    return listing;
  };
};
