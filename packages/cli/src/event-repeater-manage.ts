import { request } from 'node:http';
import { AppError, suggest } from '@infrakit/core';
import { type ListenFiles, recordedPlace } from '@infrakit/repeater';
import type { RunCommand } from './command-context.ts';
import { commandLine, runCommandLine } from './command-line.ts';
import { defaultName, placesOf, tokenOf } from './event-repeater-place.ts';
import { exits, usageError } from './exit.ts';

interface ManageFlags {
  readonly name: string;
  readonly path: string;
  readonly value?: string;
  readonly token?: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const methods = ['get', 'post', 'put', 'delete'];
const timeoutMs = 10_000;

const placeOf = async (files: ListenFiles) => {
  const recorded = await recordedPlace(files);
  return recorded === undefined ? { socketPath: files.socket } : recorded;
};

const unreachable = (name: string, why: string, cause?: unknown): AppError =>
  new AppError('PLUGIN_UNAVAILABLE', `the event repeater ${name} cannot be reached: ${why}`, { cause });

const whyUnreachable = (error: Error, late: AbortSignal): string => {
  if (late.aborted) return `no answer within ${timeoutMs / 1_000} s`;
  const code = Reflect.get(error, 'code');
  if (code !== 'ENOENT' && code !== 'ECONNREFUSED') return error.message;
  return 'it does not run; start it with `infrakit util event-repeater run`';
};

/** One request. Errors: `PLUGIN_UNAVAILABLE` when nobody answers within 10 s. */
const ask = async (
  files: ListenFiles,
  method: string,
  { name, path, value }: ManageFlags,
  { token, signal }: { readonly token: string | undefined; readonly signal: AbortSignal },
): Promise<Answer> => {
  const place = await placeOf(files);
  const late = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(unreachable(name, whyUnreachable(error, late), error));
    const sent = request(
      {
        ...place,
        method: method.toUpperCase(),
        path,
        signal: AbortSignal.any([signal, late]),
        headers: {
          ...('socketPath' in place && { host: 'localhost' }),
          ...(value !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(value),
          }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('error', fail);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', fail);
    sent.end(value);
  });
};

const sentenceOf = ({ status, text }: Answer): string => {
  try {
    const { error, topics } = JSON.parse(text) as { readonly error?: unknown; readonly topics?: readonly unknown[] };
    const about = topics === undefined ? '' : `: ${topics.join(', ')}`;
    return `${String(error)}${about} (HTTP ${status})`;
  } catch {
    return `HTTP ${status}: ${text.slice(0, 200)}`;
  }
};

/** What an event repeater answers; at a place that one has left behind somebody else may answer by now. */
const jsonOf = (text: string, name: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreachable(name, 'what answers where it listened is no event repeater', cause);
  }
};

const methodOf = (words: readonly string[]): string => {
  const [word, ...rest] = words;
  const found = methods.find((method) => method === word?.toLowerCase());
  if (found !== undefined && rest.length === 0) return found;
  const near = word === undefined ? undefined : suggest(word, methods);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw usageError(
    `manage takes one of ${methods.join(', ')}${word === undefined ? '' : `, not ${words.join(' ')}${hint}`}`,
  );
};

/**
 * `infrakit util event-repeater manage … get|post|put|delete`: one request to the event repeater of a name. Prints what it
 * answers on stdout; an answer that is no success is exit 1 and its sentence on stderr (GP-R16).
 */
const runManage: RunCommand = (words, { env, signal, streams }) => {
  const command = commandLine(
    'infrakit util event-repeater manage',
    {
      summary: 'list or change the rules of an event repeater',
      example: `infrakit util event-repeater manage post --value '[{"sourcetopic": "timer/sec/1", "sinktopic": "tick"}]'`,
    },
    streams,
  )
    .argument('<method>', methods.join(', '))
    .option('--name <name>', 'its name', defaultName)
    .option('--path <path>', '/events, or /events/<topic>', '/events')
    .option('--value <json>', '[{"sourcetopic": …, "sinktopic": …}, …]')
    .option('--token <reference>', 'file:PATH or env:NAME of the bearer token')
    .allowExcessArguments(true);
  return runCommandLine(command, words, async () => {
    const flags = command.opts<ManageFlags>();
    const method = methodOf(command.args);
    if (!/^\/[^\s]*$/.test(flags.path)) throw usageError(`--path begins with "/", not ${JSON.stringify(flags.path)}`);
    const files = placesOf(env, flags.name);
    const answer = await ask(files, method, flags, { token: await tokenOf(flags.token, env), signal });
    if (answer.status < 200 || answer.status > 299) throw new AppError('PARAMS_INVALID', sentenceOf(answer));
    if (answer.text !== '') streams.stdout.write(`${JSON.stringify(jsonOf(answer.text, flags.name), null, 2)}\n`);
    return exits.done;
  });
};

export default runManage;
