import {
  AppError,
  canonicalJson,
  checkFilter,
  encodeLevel,
  eventSubscription,
  matchesFilter,
  parseDuration,
  topicsUnder,
} from '@infrakit/core';
import type { BufferSettings } from '../buffer/buffer-budget.ts';
import { cloudEvent, cloudEventType } from '../cloud-event.ts';
import { type Endpoint, type EndpointDeps, sinkEndpoint, sourceEndpoint } from '../link/endpoint.ts';
import type { VersionChoice } from '../link/link-pair.ts';
import { type Hop, takenBy } from '../mirror/loop-proof.ts';
import type { Mirror } from '../mirror/mirror.ts';
import type { Route } from '../mirror/route.ts';
import { type TopicMapping, topicMapping } from '../mirror/topic-mapping.ts';
import { patternOf, type TopicPattern } from '../mirror/topic-pattern.ts';

/** One direction of a mirror, its topics as they stand at the brokers. */
export interface Flow {
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly filter: string;
  readonly qos: 0 | 1 | 2;
  readonly version: VersionChoice;
  readonly mapping: TopicMapping;
  readonly retain: Route['retain'];
  readonly maxBytes: number;
  readonly form?: Route['form'];
  /** What may wait on the disk; undefined for nothing. */
  readonly buffer?: BufferSettings;
  readonly contentType?: string;
  /** How often what a source of 3.1.1 has retained is looked at, and the words that say which topics go where; undefined for never. */
  readonly scan?: { readonly everyMs: number; readonly words: string };
  /** Whether a topic of the filter is one of this flow: not excluded, and not one that must be named. */
  readonly wants: (topic: string) => boolean;
  /** The topics that it does not want. */
  readonly unwanted: readonly TopicPattern[];
}

/** Topics of ours that a probe of a sink is published under. */
export const canaryPrefix = 'infrakit-canary/';

/** Topics that a wildcard does not mean: they must be named (issue 6). `$` topics are so by the standard [MQTT-4.7.2-1]. */
const namedOnly = (deps: EndpointDeps): readonly string[] => [
  canaryPrefix,
  ...(deps.broker === null ? [] : [`${deps.broker.prefix}/rpc/`, `${deps.broker.prefix}/reply/`]),
];

const choice = (filter: string, excluded: readonly string[], deps: EndpointDeps): Pick<Flow, 'wants' | 'unwanted'> => {
  const hidden = namedOnly(deps).filter((prefix) => !filter.startsWith(prefix));
  return {
    wants: (topic) =>
      !hidden.some((prefix) => topic.startsWith(prefix)) && !excluded.some((exclude) => matchesFilter(exclude, topic)),
    unwanted: [...excluded, ...hidden.map((prefix) => `${prefix}+/#`)].map(patternOf),
  };
};

/** A mapping of what stands below `base`. */
const below = (base: string, inner: TopicMapping): TopicMapping => {
  if (base === '') return inner;
  const off = topicMapping({ source: '#', sink: '', localPrefix: base, remotePrefix: '' });
  return {
    topic: (topic) => {
      const rest = off.topic(topic);
      return rest === null ? null : inner.topic(rest);
    },
    image: (pattern) => {
      const rest = off.image(pattern);
      return rest === null ? null : inner.image(rest);
    },
    preimage: (pattern) => {
      const rest = inner.preimage(pattern);
      return rest === null ? null : off.preimage(rest);
    },
  };
};

/** How topics are written at a source: below `base`, filters in their old forms too. */
interface Notation {
  readonly base: string;
  readonly filter: (text: string) => string;
}

const notationOf = ({ plugin }: Endpoint, deps: EndpointDeps): Notation => {
  if (plugin === undefined || deps.broker === null) return { base: '', filter: checkFilter };
  const topics = topicsUnder(deps.broker.prefix);
  const [lookup = plugin, ...rest] = plugin.split('/');
  const events = `${topics.prefix}/events/${encodeLevel(lookup)}/`;
  const within = rest.length === 0 ? '' : `${rest.join('/')}/`;
  return {
    base: events,
    filter: (text) =>
      eventSubscription(topics, lookup, within + (text === '.' ? '' : text)).filter.slice(events.length),
  };
};

const sinkOf = ({ sinktopic }: Mirror): string => (sinktopic === '.' ? '' : sinktopic);

/** The retain flag of a live message is kept only where the source speaks MQTT 5. */
const versionOf = ({ Retain, RetainScan, MQTT }: Mirror): VersionChoice => {
  if (MQTT === '3.1.1') return 4;
  if (Retain !== 'as-published') return 'both';
  return RetainScan === undefined ? 5 : 'source';
};

/** What a scan finds is retained by the scan alone, so that it is known what was. */
const retainOf = ({ Retain, RetainScan }: Mirror): Route['retain'] => {
  if (Retain !== 'as-published') return Retain;
  return RetainScan === undefined ? 'keep' : 'if-told';
};

/** What of the words about retained messages does not go together. */
const retainFaults = ({ Retain, RetainScan, MQTT }: Mirror, sink: Endpoint | undefined): string[] => {
  if (RetainScan === undefined) {
    const isMute = Retain === 'as-published' && MQTT === '3.1.1';
    return isMute ? ['Retain: as-published needs MQTT 5, or RetainScan: MQTT: 3.1.1 tells no retained message'] : [];
  }
  if (Retain !== 'as-published') return ['RetainScan: it is for Retain: as-published'];
  return sink?.isLog === true ? ['RetainScan: a log retains nothing'] : [];
};

const direction = (
  mirror: Mirror,
  ends: { readonly from: Endpoint; readonly to: Endpoint; readonly isIn: boolean },
  deps: EndpointDeps,
): Flow => {
  const { from, to, isIn } = ends;
  const [local, remote] = isIn ? [mirror.RemotePrefix, mirror.LocalPrefix] : [mirror.LocalPrefix, mirror.RemotePrefix];
  const { base, filter: written } = notationOf(from, deps);
  const relative = written(local + mirror.sourcetopic);
  const filter = base + relative;
  checkFilter(filter);
  const mapping = topicMapping({ source: relative, sink: sinkOf(mirror), localPrefix: local, remotePrefix: remote });
  const excluded = mirror.Exclude.map((text) => base + written(text));
  return {
    from,
    to,
    filter,
    qos: mirror.QoS,
    version: versionOf(mirror),
    mapping: below(base, mapping),
    retain: retainOf(mirror),
    maxBytes: mirror.MaxSize ?? Number.POSITIVE_INFINITY,
    ...(mirror.Buffer !== undefined && {
      buffer: { maxBytes: mirror.Buffer.MaxBytes, policy: mirror.Buffer.Policy },
    }),
    ...(mirror.Format === 'cloudevents' && { form: cloudEvent(from.name), contentType: cloudEventType }),
    ...(mirror.RetainScan !== undefined && {
      scan: {
        everyMs: parseDuration(mirror.RetainScan),
        words: canonicalJson([relative, sinkOf(mirror), local, remote, mirror.Format]),
      },
    }),
    ...choice(filter, excluded, deps),
  };
};

/** The flows that a mirror is made of, or every fault of it that its schema does not show, as sentences. */
export const flowsOf = (
  mirror: Mirror,
  deps: EndpointDeps,
): { readonly flows: readonly Flow[]; readonly faults: readonly string[] } => {
  const faults: string[] = [];
  const attempt = <T>(field: string, make: () => T): T | undefined => {
    try {
      return make();
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      faults.push(`${field}: ${thrown.message}`);
      return undefined;
    }
  };
  const source = attempt('Source', () => sourceEndpoint(mirror.Source, deps));
  const sink = attempt('Sink', () => sinkEndpoint(mirror.Sink, deps));
  const { Direction } = mirror;
  if (Direction !== 'out' && (source?.plugin !== undefined || sink?.isLog === true)) {
    faults.push(`Direction: ${Direction} needs a broker on both sides`);
  }
  if (mirror.Buffer !== undefined && !deps.keepsBuffers) {
    faults.push('Buffer: this process keeps nothing on the disk, where a buffer would be');
  }
  faults.push(...retainFaults(mirror, sink));
  if (source === undefined || sink === undefined || faults.length > 0) return { flows: [], faults };
  const flows: Flow[] = [];
  for (const isIn of [false, true]) {
    if (Direction === (isIn ? 'out' : 'in')) continue;
    const ends = isIn ? { from: sink, to: source, isIn } : { from: source, to: sink, isIn };
    const flow = attempt('topics', () => direction(mirror, ends, deps));
    if (flow !== undefined) flows.push(flow);
  }
  return { flows, faults };
};

/** A flow as the proof of loops sees it. */
export const hopOf = (name: string, { from, to, filter, unwanted, mapping }: Flow): Hop => ({
  name,
  from: from.identity,
  to: to.identity,
  taken: takenBy(patternOf(filter), mapping),
  excluded: unwanted,
  mapping,
});
