import { type Event, parseDuration } from '@infrakit/core';
import { eventInterface } from '@infrakit/spi';
import { merge, type Subscription } from 'rxjs';
import { exits, usageError } from '../exit.ts';
import type { BusObject } from '../objects.ts';
import type { Session } from '../session.ts';
import { type VerbCall, verb } from '../verb.ts';
import { viewOf } from '../view.ts';

interface Options {
  readonly view?: string;
  readonly output?: string;
  readonly count?: string;
  readonly timeout?: string;
}

/** The template that `--view` names: an address of a text, or the text itself (GP §3.5). */
const viewText = (view: string): string => (view.startsWith('str://') ? view.slice('str://'.length) : view);

const plainLine = ({ Topic, ID, Message, Data }: Event): string =>
  Data === undefined
    ? `${Topic}\t${[ID, Message].filter((part) => part !== '').join(' ')}`
    : `${Topic}\t${JSON.stringify(Data)}`;

const lineOf = async ({ view, output }: Options): Promise<(event: Event) => string> => {
  if (output !== undefined && output !== 'json') throw usageError(`-o takes json, not ${JSON.stringify(output)}`);
  if (output === 'json') return (event) => JSON.stringify(event);
  if (view === undefined) return plainLine;
  const show = await viewOf(viewText(view));
  return (event) => show({ ...event, Properties: event.Data });
};

const countOf = (text: string | undefined): number => {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d*$/.test(text)) throw usageError(`--count takes a whole number from 1, not ${JSON.stringify(text)}`);
  return Number(text);
};

/** Says which of the topics nobody has published under so far; a subscription may come before its topic (GP §3.2). */
const tellUnknown = async (topics: readonly string[], call: VerbCall<Options>, session: Session): Promise<void> => {
  if (!call.object.interfaces.has('Event')) return;
  const source = session.plugins.resolve(eventInterface, call.object.name);
  for (const topic of topics) {
    if (/[+#]/.test(topic) || topic === '.') continue;
    const { nodes } = await source.list({ topic: topic.replace(/\/+$/, '') }, session.ctx());
    if (nodes === null) call.note(`${call.object.name} knows no topic ${topic} so far`);
    else if (nodes.length > 0 && !topic.endsWith('/'))
      call.note(`${topic} has topics below it: tail ${topic}/ follows them`);
  }
};

/** Which plugin's events an object means, and the topics below it: those of a group are its own branch of the group plugin. */
const placeOf = ({ name, object, proxyFor }: BusObject, topics: readonly string[]) => {
  const [plugin = '', ...scope] = (proxyFor ?? name).split('/');
  const branch = object === 'groups' ? '' : scope.map((part) => `${part}/`).join('');
  return { plugin, topics: topics.map((topic) => (branch === '' ? topic : topic === '.' ? branch : branch + topic)) };
};

/**
 * `tail [topic…]`: one line an event, with the topic it really came under (GP-E5), until Ctrl-C, `--count` or `--timeout`.
 * Topics are MQTT filters or the old forms; a lost connection is told and followed on.
 */
export default verb<Options>({
  define: (command) =>
    command
      .argument('[topics...]', 'MQTT filters, or the old forms: . for all, a slash at the end for all below')
      .option('--view <template>', 'how an event is shown; str://… or the text itself')
      .option('-o, --output <format>', 'json: each event as it is')
      .option('--count <n>', 'end after so many')
      .option('--timeout <duration>', 'end after this long; exit 3 if --count was not reached'),
  run: async (call) => {
    const { object, session, args, options, note, print, signal } = call;
    const line = await lineOf(options);
    const count = countOf(options.count);
    const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout);
    const given = args.length === 0 ? ['.'] : args;
    await tellUnknown(given, call, session);
    const { plugin, topics } = placeOf(object, given);
    let seen = 0;
    let subscription: Subscription | undefined;
    let timer: NodeJS.Timeout | undefined;
    const exit = await new Promise<number>((resolve) => {
      subscription = merge(...topics.map((topic) => session.subscribe(plugin, topic))).subscribe({
        next: (message) => {
          if (message.kind === 'gap') note(`events may be missing: ${message.reason}`);
          else if (message.kind === 'bad') note(`no event on ${message.topic}: ${message.reason}`);
          else if (seen < count) {
            seen += 1;
            print([line(message.event)]);
            if (seen === count) resolve(exits.done);
          }
        },
        complete: () => resolve(exits.unreachable),
      });
      if (timeoutMs !== undefined) {
        timer = setTimeout(() => resolve(count === Number.POSITIVE_INFINITY ? exits.done : exits.pending), timeoutMs);
      }
      signal.addEventListener('abort', () => resolve(exits.done), { once: true });
    });
    clearTimeout(timer);
    subscription?.unsubscribe();
    return exit;
  },
});
