import { AppError, digest, objectName, ownerTags, reservedTags, type Spec } from '@infrakit/core';
import { decodePart } from '@infrakit/document';
import type { Accepted } from '@infrakit/runtime';
import { type CallContext, instanceInterface, type Plugins } from '@infrakit/spi';
import { NEVER } from 'rxjs';
import type { Endpoint, EndpointDeps } from './link/endpoint.ts';
import { findLoop, type Hop, loopText } from './mirror/loop-proof.ts';
import { ruleRanks } from './mirror/rule-ranks.ts';
import { contentTag, type MirrorEntry, type WantedMirror } from './mirror/wanted-mirror.ts';
import { repeaterRule } from './repeater-rule.ts';
import { RepeaterProperties, type RuleItem, ruleItems } from './repeater-schema.ts';
import { rankTag, type TopicInstances } from './topic-instances.ts';
import { type Flow, flowsOf, hopOf } from './wire/flow.ts';
import type { SpeaksMqtt5 } from './wire/speaks-mqtt5.ts';

/** What accepted repeaters work with. */
export interface RepeaterAcceptDeps extends EndpointDeps {
  /** The lookup name of the repeater. */
  readonly name: string;
  readonly stackId: string;
  readonly plugins: Plugins;
  readonly mirrors: TopicInstances;
  readonly asksMqtt5: (endpoint: Endpoint, ctx: CallContext) => Promise<SpeaksMqtt5>;
  /** The hops of each spec in force, by its name. */
  readonly hopsInForce: Map<string, readonly Hop[]>;
}

/** An accepted repeater, and what its rows are made of. */
export interface AcceptedRepeater {
  readonly accepted: Accepted<WantedMirror, MirrorEntry>;
  readonly wanted: readonly WantedMirror[];
  readonly owner: string;
}

const [quietMs, maxWaitMs, syncIntervalMs] = [20, 200, 30_000];

/** The name of the object that takes the mirrors, which no rule may have. */
export const topicObject = 'topic';

const invalid = (faults: readonly string[]): AppError =>
  new AppError('SPEC_INVALID', faults.join('\n'), { facts: { faults } });

interface ParsedRule extends RuleItem {
  readonly flows: readonly Flow[];
}

const parseRules = (spec: Spec, deps: EndpointDeps): ParsedRule[] => {
  const part = decodePart('properties', spec.properties ?? {}, RepeaterProperties);
  if (part.value === undefined) throw invalid(part.faults);
  const faults: string[] = [];
  const seen = new Set<string>();
  const rules = ruleItems(part.value).map((item): ParsedRule => {
    if (seen.has(item.id)) faults.push(`properties.Rules: more than one rule mirrors ${item.id}`);
    seen.add(item.id);
    const { flows, faults: own } = flowsOf(item.mirror, deps);
    // What is wrong with an end is wrong with it in every rule.
    for (const fault of own) {
      const text = /^(Source|Sink): /.test(fault) ? `properties.${fault}` : `properties.Rules ${item.id}: ${fault}`;
      if (!faults.includes(text)) faults.push(text);
    }
    return { ...item, flows };
  });
  if (faults.length > 0) throw invalid(faults);
  return rules;
};

/** Sources must be able to say what was retained, where a rule asks for it. Gives warnings. */
const checkRetain = async (
  rules: readonly ParsedRule[],
  deps: RepeaterAcceptDeps,
  ctx: CallContext,
): Promise<readonly string[]> => {
  const sources = new Map(
    rules.flatMap(({ flows }) => flows.flatMap((flow) => (flow.version === 5 ? [[flow.from.key, flow.from]] : []))),
  );
  const warnings: string[] = [];
  for (const source of sources.values()) {
    const answer = await deps.asksMqtt5(source, ctx);
    if (answer.kind === 'no') {
      throw invalid([
        `Retain: as-published needs a source that speaks MQTT 5, and ${source.name} does not; with RetainScan: 1m what it has retained is looked at every minute`,
      ]);
    }
    if (answer.kind === 'unknown') {
      warnings.push(
        `whether ${source.name} speaks MQTT 5, as Retain: as-published needs, is not known: ${answer.reason}`,
      );
    }
  }
  return warnings;
};

/** Loops over everything that this repeater mirrors, this spec in the place of its last revision (issue 6). */
const checkLoops = (name: string, hops: readonly Hop[], deps: RepeaterAcceptDeps): void => {
  const others = [...deps.hopsInForce].flatMap(([other, theirs]) => (other === name ? [] : theirs));
  const owners = new Set([...deps.hopsInForce.keys(), name].map((spec) => `${deps.stackId}/${deps.name}/${spec}`));
  // Mirrors of a spec that was set free, of one that is not back yet, or of none.
  const unspecified = deps.mirrors.hops(({ Tags }) => owners.has(Tags[reservedTags.enrollmentOwner] ?? ''));
  const loop = findLoop([...others, ...unspecified, ...hops]);
  if (loop !== null) throw invalid([`a message would go round for ever: ${loopText(loop)}`]);
};

/** Checks an event-repeater spec as a whole and makes it ready to be kept. Nothing is connected for good before it is in force. */
export const acceptRepeater = async (
  spec: Spec,
  given: { readonly revision: number; readonly owner: string; readonly ctx: CallContext },
  deps: RepeaterAcceptDeps,
): Promise<AcceptedRepeater> => {
  const { owner, revision, ctx } = given;
  const name = objectName(deps.name, spec.metadata.name);
  if (name === topicObject)
    throw invalid([`metadata.name: ${deps.name}/${topicObject} is the object that takes mirrors`]);
  const rules = parseRules(spec, deps);
  const hops = rules.flatMap(({ id, flows }) => flows.map((flow) => hopOf(`${name} ${id}`, flow)));
  checkLoops(name, hops, deps);
  const warnings = await checkRetain(rules, deps, ctx);
  const ranks = ruleRanks(rules.map(({ flows }) => flows));
  const wanted = rules.map(
    ({ id, mirror }, n): WantedMirror => ({ id, mirror, rank: ranks[n] ?? 0, content: digest(mirror) }),
  );
  const accepted: AcceptedRepeater['accepted'] = {
    rule: repeaterRule(wanted, {
      name: `${deps.name}/${name}`,
      rule: name,
      owner,
      revision,
      tagsOf: ({ id, rank, content }) => ({
        ...ownerTags(owner, name, id),
        [rankTag]: `${rank}`,
        [contentTag]: content,
      }),
      instance: deps.plugins.resolve(instanceInterface, `${deps.name}/${topicObject}`),
    }),
    timing: { quietMs, maxWaitMs, syncIntervalMs },
    triggers: NEVER,
    sourceHash: digest(wanted.map(({ id, content }) => [id, content])),
    warnings,
    onDestroy: 'empty',
    begun: () => void deps.hopsInForce.set(name, hops),
    retire: async (next) => {
      if (next === null) deps.hopsInForce.delete(name);
    },
  };
  return { accepted, wanted, owner };
};
