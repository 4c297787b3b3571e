import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, testingContext } from '@infrakit/spi';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseContainer } from './container-properties.ts';
import { openEngine } from './engine.ts';
import { ensureImage } from './image.ts';

let folder = '';
let lines: string[] = [];
let isThere = false;
let asked: { readonly call: string; readonly auth: unknown }[] = [];

const authOf = ({ headers }: IncomingMessage): unknown => {
  const text = headers['x-registry-auth'];
  return typeof text === 'string' ? JSON.parse(Buffer.from(text, 'base64').toString()) : null;
};

/** The two calls about images as an engine answers them. */
const server = createServer((request, answer) => {
  const call = `${request.method} ${request.url?.replace(/^\/v1\.41/, '')}`;
  asked.push({ call, auth: authOf(request) });
  if (call.startsWith('GET')) {
    answer.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' }).end('{"message":"no such image"}');
  } else answer.writeHead(200).end(lines.join('\n'));
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'infrakit-engine-'));
  await once(server.listen(join(folder, 's.sock')), 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  [lines, isThere, asked] = [[], false, []];
});

const logged: unknown[] = [];
const log: Log = { debug: () => {}, warn: () => {}, error: () => {}, info: (facts) => logged.push(facts) };

const ensure = async (properties: object, variables: Record<string, string> = {}, notes: string[] = []) =>
  ensureImage(
    parseContainer({ Image: 'reg.example.org/web:1', ...properties }),
    {
      engine: await openEngine({ host: `unix://${join(folder, 's.sock')}` }),
      variable: (name) => variables[name],
      log,
    },
    testingContext({ progress: ({ message }) => notes.push(message) }),
  );

describe('the image of a container', () => {
  test('that is there is not pulled, unless always; that is not there is, unless never', async () => {
    isThere = true;
    await ensure({});
    await ensure({ PullPolicy: 'never' });
    expect(asked.filter(({ call }) => call.startsWith('POST'))).toEqual([]);
    await ensure({ PullPolicy: 'always' });
    expect(asked.at(-1)?.call).toBe('POST /images/create?fromImage=reg.example.org%2Fweb&tag=1');
    isThere = false;
    await expect(ensure({ PullPolicy: 'never' })).rejects.toThrow('PullPolicy is never');
  });

  test('the progress of a pull reaches the caller and the log, each word about a layer once', async () => {
    lines = [
      '{"status":"Downloading","id":"a"}',
      '{"status":"Downloading","id":"a"}',
      'what?',
      '{"status":"Done","id":"a"}',
    ];
    const notes: string[] = [];
    await ensure({}, {}, notes);
    expect(notes).toEqual([
      'reg.example.org/web:1: a Downloading',
      'reg.example.org/web:1: a Downloading',
      'reg.example.org/web:1: a Done',
    ]);
    expect(logged).toMatchObject([{ layer: 'a', status: 'Downloading' }, { status: 'Done' }]);
  });

  test('a pull that fails after the engine said 200 is a failure, with its words', async () => {
    lines = ['{"status":"Pulling"}', '{"error":"toomanyrequests: slow down"}'];
    await expect(ensure({})).rejects.toThrow('reg.example.org/web:1 was not pulled: toomanyrequests: slow down');
  });

  test('credentials come from a variable or a file; one that is not there is an error that names it', async () => {
    const file = join(folder, 'password');
    await writeFile(file, 'from file\n');
    const registry = (Password: string) => ({ Registry: { Username: 'me', Password, Server: 'reg.example.org' } });
    await ensure(registry('env:REG'), { REG: 'from env' });
    const wanted = { username: 'me', serveraddress: 'reg.example.org' };
    expect(asked.at(-1)?.auth).toEqual({ ...wanted, password: 'from env' });
    await ensure(registry(`file:${file}`));
    expect(asked.at(-1)?.auth).toEqual({ ...wanted, password: 'from file' });
    await expect(ensure(registry('env:REG'))).rejects.toThrow('the variable REG');
    await expect(ensure(registry(`file:${folder}/none`))).rejects.toThrow('cannot be read from');
  });
});
