import { type Event, parseDuration, toAppError } from '@infrakit/core';
import { type EventMessage, eventInterface } from '@infrakit/spi';
import type { Command } from 'commander';
import { merge, type Subscription } from 'rxjs';
import { exits, usageError } from './exit.ts';
import type { Session } from './session.ts';
import { readAddress } from './source-text.ts';
import type { VerbCall } from './verb.ts';
import { viewOf } from './view.ts';
import { checkedDuration } from './wait.ts';

/** Options of what follows events (GP §3.5). */
export interface FollowOptions {
  readonly view?: string;
  readonly output?: string;
  readonly count?: string;
  readonly timeout?: string;
}

/** Adds them. */
export const addFollowOptions = (command: Command): Command =>
  command
    .option('--view <template>', 'how an event is shown: the text itself, or str://…, file://…, https://…')
    .option('-o, --output <format>', 'json: each event as it is')
    .option('--count <n>', 'end after so many')
    .option('--timeout <duration>', 'end after this long; exit 3 if --count was not reached', checkedDuration);

/** What is followed: events of a plugin by an MQTT filter, or an old form (GP §3.2). */
export interface FollowedTopic {
  readonly plugin: string;
  readonly topic: string;
}

/** How a followed event is shown, and where things are said. */
export interface Following extends Pick<VerbCall<FollowOptions>, 'print' | 'note' | 'signal'> {
  readonly session: Session;
  /** Put in front of the topics that are shown. */
  readonly prefixOf: (plugin: string) => string;
}

type EventLine = (event: Event, prefix: string) => string;

/** The template that `--view` names: the address of a text, or the text itself (GP §3.5). */
const viewText = async (view: string): Promise<string> => (/^[a-z]+:\/\//i.test(view) ? readAddress(view) : view);

/** Without data the id and the message are what there is to say (EI-V7). */
const plainLine: EventLine = ({ Topic, ID, Message, Error: error, Data }, prefix) => {
  const text = Data === undefined ? [ID, Message, error ?? ''].filter((part) => part !== '').join(' ') : undefined;
  return `${prefix}${Topic}\t${text ?? JSON.stringify(Data)}`;
};

const lineOf = async ({ view, output }: FollowOptions): Promise<EventLine> => {
  if (output !== undefined && output !== 'json') throw usageError(`-o takes json, not ${JSON.stringify(output)}`);
  if (output === 'json') return (event) => JSON.stringify(event);
  if (view === undefined) return plainLine;
  const show = await viewOf(await viewText(view));
  // As in the old program data is the JSON text, which views decode (GP §3.5); properties are what it says.
  return ({ Data, ...event }) =>
    show({ ...event, ...(Data === undefined ? {} : { Data: JSON.stringify(Data), Properties: Data }) });
};

const countOf = (text: string | undefined): number => {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d*$/.test(text)) throw usageError(`--count takes a whole number from 1, not ${JSON.stringify(text)}`);
  return Number(text);
};

/**
 * Says which topics of an object nobody has published under so far, and which have others below them and none of their own
 * (GP-E4): a subscription may come before its topic (GP §3.2).
 */
export const tellUnknown = async (
  object: string,
  topics: readonly string[],
  { session, note }: Pick<Following, 'session' | 'note'>,
): Promise<void> => {
  const source = session.plugins.resolve(eventInterface, object);
  for (const topic of topics) {
    const path = topic.replace(/^\/+|\/+$/g, '');
    if (/[+#]/.test(topic) || path === '.' || path === '') continue;
    const { nodes } = await source.list({ topic: path }, session.ctx());
    if (nodes === null) note(`${object} knows no topic ${topic} so far`);
    else if (nodes.length > 0 && !topic.endsWith('/')) {
      note(`${topic} has topics below it: ${topic}/ follows them`);
    }
  }
};

/**
 * One line an event, with the topic it really came under (GP-E5), until Ctrl-C, `--count` or `--timeout`; gives the exit code.
 * A lost connection is told and followed on (GP-E13), and so is each gap between events (EI-V12).
 */
export const followEvents = async (
  topics: readonly FollowedTopic[],
  options: FollowOptions,
  { session, print, note, signal, prefixOf }: Following,
): Promise<number> => {
  const line = await lineOf(options);
  const count = countOf(options.count);
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout);
  const messages = topics.map(({ plugin, topic }) => session.subscribe(plugin, topic));
  let seen = 0;
  let told = '';
  const subscriptions: Subscription[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** The same thing again and again is told once. */
  const tell = (sentence: string): void => {
    if (sentence !== told) note(sentence);
    told = sentence;
  };
  const show = (event: Event, prefix: string): void => {
    try {
      print([line(event, prefix)]);
      seen += 1;
      told = '';
    } catch (thrown) {
      // Other events may have what the view wants (EI-V7).
      tell(`${prefix}${event.Topic}: ${toAppError(thrown).message}`);
    }
  };

  const exit = await new Promise<number>((resolve) => {
    const next = (message: EventMessage): void => {
      if (message.kind === 'bad') tell(`no event on ${message.topic}: ${message.reason}`);
      else if (message.kind === 'gap') tell(`events may be missing: ${message.reason}`);
      else if (seen < count) {
        show(message.event, prefixOf(message.plugin));
        if (seen === count) resolve(exits.done);
      }
    };
    subscriptions.push(
      merge(...messages).subscribe({ next, complete: () => resolve(exits.unreachable) }),
      session.status.subscribe((status) => {
        if (status.kind === 'disconnected') tell(`the broker is lost (${status.reason}); waiting for it`);
      }),
    );
    if (timeoutMs !== undefined) {
      timer = setTimeout(() => {
        if (count === Number.POSITIVE_INFINITY) return resolve(exits.done);
        note(`${seen} of ${count} events came within ${options.timeout}`);
        resolve(exits.pending);
      }, timeoutMs);
    }
    if (signal.aborted) resolve(exits.done);
    signal.addEventListener('abort', () => resolve(exits.done), { once: true });
  }).finally(() => {
    clearTimeout(timer);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });
  return exit;
};
