import { type ObservedEntry, ownershipOf, reservedTags, type Tags } from '@infrakit/core';
import type { Rule, RuleSettings, Source } from '@infrakit/runtime';
import type { CallContext, Instance } from '@infrakit/spi';
import { contentTag, type MirrorEntry, type WantedMirror } from './mirror/wanted-mirror.ts';
import { rankTag } from './topic-instances.ts';

const settings: RuleSettings = {
  policy: 'sync',
  onChange: 'replace',
  sourcePolicy: 'Quarantine',
  enrollmentPolicy: 'Quarantine',
  // The mirror that takes over is there before the other one goes, so that nothing is missed.
  order: 'adds-first',
  maxDestroyPercent: 100,
  maxDestroyFloor: 3,
  callTimeoutMs: 10_000,
  maxCallTimeoutMs: 30_000,
  graceMs: 10_000,
};

/** What the rule of a spec is put together from. */
export interface RepeaterRuleFacts {
  /** `<repeater>/<rule>`. */
  readonly name: string;
  readonly rule: string;
  readonly owner: string;
  readonly revision: number;
  readonly tagsOf: (wanted: WantedMirror) => Tags;
  readonly instance: Instance;
}

/** A repeater spec as the loop keeps it: its rules on one side, the mirrors of `<repeater>/topic` on the other (DESIGN §1). */
export const repeaterRule = (
  wanted: readonly WantedMirror[],
  facts: RepeaterRuleFacts,
): Rule<WantedMirror, MirrorEntry> => {
  const { owner, rule, instance, tagsOf } = facts;
  const byId = new Map(wanted.map((item) => [item.id, item]));
  const source: Source<WantedMirror> = { kind: 'known', items: wanted };
  let last: { readonly digest: string; readonly instances: readonly MirrorEntry[] } | null = null;

  const read = async (ctx: CallContext): Promise<readonly MirrorEntry[]> => {
    const tags = { [reservedTags.enrollmentOwner]: owner };
    const known = last === null ? {} : { digest: last.digest };
    const listing = await instance.describe({ tags, properties: false, ...known }, ctx);
    if (listing.kind === 'instances') last = listing;
    return last?.instances ?? [];
  };

  const observe = ({ ID, Tags: tags }: MirrorEntry): ObservedEntry => {
    const id = tags?.[reservedTags.enrollmentSourceId];
    const item = id === undefined ? undefined : byId.get(id);
    const ownership = ownershipOf(tags === null ? null : { ...tags }, {
      owner,
      rule,
      keyKnown: id !== undefined,
      adopted: false,
      allowUntaggedDestroy: false,
      storedSpecsBack: true,
    });
    // One that is to have another rank gets its labels anew; it goes on meanwhile.
    const isMoved = item !== undefined && tags?.[rankTag] !== `${item.rank}`;
    const content = tags?.[contentTag];
    return {
      id: ID,
      key: id === undefined ? { kind: 'unknown', reason: 'it says no rule' } : { kind: 'known', value: id },
      ownership: ownership.kind === 'ours' && isMoved ? { kind: 'named', judged: true } : ownership,
      ...(id !== undefined && { sourceId: id }),
      ...(content !== undefined && { content }),
    };
  };

  return {
    name: facts.name,
    owner,
    settings,
    revision: facts.revision,
    readSource: async () => source,
    readSink: read,
    keys: (reading, observed) => ({
      source:
        reading.kind === 'unknown'
          ? reading
          : {
              ...reading,
              entries: reading.items.map(({ id, content }) => ({
                id,
                key: { kind: 'known' as const, value: id },
                content,
              })),
            },
      observed: observed.map(observe),
      itemOf: (id) => byId.get(id),
    }),
    contentOf: ({ content }) => content,
    create: async (item, ctx) => {
      const spec = { Properties: item.mirror, Tags: { ...tagsOf(item) }, Init: '', LogicalID: null, Attachments: null };
      return (await instance.provision({ spec }, ctx)).id;
    },
    label: async (id, sourceId, ctx) => {
      const item = sourceId === undefined ? undefined : byId.get(sourceId);
      if (item === undefined) return;
      // What it was made of stays as it was: only a new one is made of something else.
      const { [contentTag]: _content, ...labels } = tagsOf(item);
      await instance.label({ id, labels }, ctx);
    },
    destroy: async (id, reason, ctx) => {
      await instance.destroy({ id, context: { Reason: reason } }, ctx);
    },
  };
};
