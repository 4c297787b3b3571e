import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AppChange, AppRule, AppRules } from './app-rule.ts';
import type { RestAccess } from './rest-access.ts';
import { restApp } from './rest-app.ts';

/** Rules that are only remembered; a sink topic with a wildcard is wrong. */
const rememberedRules = (): AppRules => {
  let rules = new Map<string, AppRule>();
  const apply = (added: readonly AppRule[]): AppChange => {
    const faults = added.filter(({ sinktopic }) => /[+#]/.test(sinktopic)).map(({ sinktopic }) => `bad ${sinktopic}`);
    if (faults.length > 0) return { kind: 'invalid', faults };
    const before = rules.size;
    rules = new Map([...rules, ...added.map((rule) => [rule.sourcetopic, rule] as const)]);
    return { kind: 'done', created: rules.size - before };
  };
  return {
    list: () =>
      [...rules.values()].map((rule) => ({
        ...rule,
        state: 'active',
        messages: 3,
        bytes: 300,
        dropped: 0,
        lagMs: 0,
        lastError: '',
      })),
    add: async (added) => {
      const topics = added.map(({ sourcetopic }) => sourcetopic).filter((topic) => rules.has(topic));
      return topics.length > 0 ? { kind: 'conflict', topics } : apply(added);
    },
    put: async (added) => apply(added),
    remove: async (topics) => {
      const missing = topics.filter((topic) => !rules.has(topic));
      if (missing.length > 0) return { kind: 'missing', topics: missing };
      rules = new Map([...rules].filter(([topic]) => !topics.includes(topic)));
      return { kind: 'done', created: 0 };
    },
  };
};

let app: FastifyInstance;
const open = async (access: RestAccess = { kind: 'socket' }): Promise<void> => {
  app = await restApp(rememberedRules(), { access, version: '1.2.3' });
};
beforeEach(() => open());
afterEach(() => app.close());

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS';
const ask = async (method: Method, url: string, body?: unknown, headers: Record<string, string> = {}) => {
  const payload = body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) };
  const { statusCode, body: text, headers: answered } = await app.inject({ method, url, headers, ...payload });
  return { code: statusCode, answer: text === '' ? null : JSON.parse(text), headers: answered };
};
const topics = async () =>
  (await ask('GET', '/events')).answer.map(({ sourcetopic, sinktopic }: AppRule) => `${sourcetopic}>${sinktopic}`);
const two = [
  { sourcetopic: 'timer/sec/1', sinktopic: '/time/1s' },
  { sourcetopic: 'timer/msec/', sinktopic: '' },
];

describe('GP §6.4, §6.5: /events', () => {
  test('GP-R1: GET lists the rules with how they fare', async () => {
    expect(await ask('GET', '/events')).toMatchObject({ code: 200, answer: [] });
    await ask('POST', '/events', two);
    const { answer } = await ask('GET', '/events');
    expect(answer[0]).toEqual({
      sourcetopic: 'timer/sec/1',
      sinktopic: '/time/1s',
      state: 'active',
      messages: 3,
      bytes: 300,
      dropped: 0,
      lagMs: 0,
      lastError: '',
    });
  });

  test('R1: POST two rules, DELETE one: the other stays; PUT changes its sink topic', async () => {
    expect((await ask('POST', '/events', two)).code).toBe(201);
    expect(await topics()).toEqual(['timer/sec/1>/time/1s', 'timer/msec/>']);
    expect(await ask('DELETE', '/events', [{ sourcetopic: 'timer/msec/' }])).toMatchObject({ code: 204, answer: null });
    expect((await ask('PUT', '/events', [{ sourcetopic: 'timer/sec/1', sinktopic: '/t' }])).code).toBe(200);
    expect(await topics()).toEqual(['timer/sec/1>/t']);
  });

  test('POST of a rule that is there is 409, DELETE of one that is not 404; both name the topics', async () => {
    await ask('POST', '/events', two);
    expect(await ask('POST', '/events', two)).toMatchObject({
      code: 409,
      answer: { topics: ['timer/sec/1', 'timer/msec/'] },
    });
    expect(await ask('DELETE', '/events', [{ sourcetopic: 'x' }, two[0]])).toMatchObject({
      code: 404,
      answer: { topics: ['x'] },
    });
    expect(await topics()).toHaveLength(2);
  });

  test('GP-R7: PUT adds what is not there', async () => {
    expect((await ask('PUT', '/events', two)).code).toBe(200);
    expect(await topics()).toHaveLength(2);
  });

  test('GP-R6: one bad rule, and none is taken', async () => {
    const bad = await ask('POST', '/events', [...two, { sourcetopic: 'a', sinktopic: '+/x' }]);
    expect(bad).toMatchObject({ code: 400, answer: { error: 'bad +/x' } });
    expect(await topics()).toEqual([]);
  });

  test.each([
    ['not json', 'no JSON'],
    ['{"sourcetopic":"a"}', 'no list'],
    ['[]', 'nothing in it'],
    ['[{"sourcetopic":""}]', 'an empty topic'],
    ['[{"sinktopic":"a"}]', 'no topic'],
    ['[{"sourcetopic":7}]', 'a number'],
    ['', 'nothing'],
    ['[{"sourcetopic":"a"}] and more', 'JSON and more'],
  ])('a body %j (%s) is 400 with one sentence', async (body) => {
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const { code, answer } = await ask(method, '/events', body);
      expect({ code, answer }).toEqual({ code: 400, answer: { error: expect.any(String) } });
    }
  });

  test('GP-R19: keys are read in any case, one that is left out is empty, others do not count; nor does the kind of content', async () => {
    const body = [{ SourceTopic: 'a', SINKTOPIC: 'b', more: 1 }];
    expect((await ask('POST', '/events', body, { 'content-type': 'application/x-www-form-urlencoded' })).code).toBe(
      201,
    );
    expect((await ask('POST', '/events', [{ sourcetopic: 'c' }])).code).toBe(201);
    expect(await topics()).toEqual(['a>b', 'c>']);
  });

  test('GP-R16: /events/ is /events for every method', async () => {
    expect((await ask('POST', '/events/', two)).code).toBe(201);
    expect((await ask('GET', '/events/')).answer).toHaveLength(2);
    expect((await ask('PUT', '/events/', two)).code).toBe(200);
    expect((await ask('DELETE', '/events/', two)).code).toBe(204);
  });

  test('GP-R7: another method is 405 and says which there are; a body above 1 MiB is 413', async () => {
    for (const url of ['/events', '/events/', '/events/a', '/events/a/b']) {
      const { code, headers } = await ask('PATCH', url, two);
      expect({ code, allow: headers.allow }).toEqual({ code: 405, allow: 'GET, HEAD, POST, PUT, DELETE' });
    }
    const large = [{ sourcetopic: 'a'.repeat(1024 * 1024) }];
    expect((await ask('POST', '/events', large)).code).toBe(413);
    expect((await ask('GET', '/nothing')).code).toBe(404);
  });
});

describe('what never ends (issue 6)', () => {
  test.each([
    ['a body', 'POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n['],
    ['a body in chunks', 'POST /events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n'],
    ['a head', 'POST /events HTTP/1.1\r\nHost: '],
  ])('%s is 408, and the end of its connection', async (_, text) => {
    await app.close();
    app = await restApp(rememberedRules(), { access: { kind: 'loopback' }, version: '1', requestTimeoutMs: 200 });
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.write(text);
    let answer = '';
    for await (const part of socket) answer += part;
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect((await fetch(`${address}/events`)).status).toBe(200);
  });
});

describe('GP §6.5: /events/{topic}', () => {
  test.each([['/events/timer%2Fsec%2F1'], ['/events/timer/sec/1']])('%s', async (url) => {
    expect((await ask('GET', url)).code).toBe(404);
    expect((await ask('DELETE', url)).code).toBe(404);
    expect((await ask('POST', url, { sinktopic: '/time/1s' })).code).toBe(201);
    expect((await ask('POST', url)).code).toBe(409);
    expect((await ask('GET', url)).answer).toMatchObject({ sourcetopic: 'timer/sec/1', sinktopic: '/time/1s' });
    expect((await ask('PUT', url, { SinkTopic: 'x' })).code).toBe(200);
    expect(await topics()).toEqual(['timer/sec/1>x']);
    expect((await ask('DELETE', url)).code).toBe(204);
    expect((await ask('PUT', url)).code).toBe(201);
  });

  test('a slash at the end is part of the topic when it is encoded', async () => {
    await ask('POST', '/events', two);
    expect((await ask('GET', '/events/timer%2Fmsec%2F')).answer).toMatchObject({ sourcetopic: 'timer/msec/' });
  });
});

describe('GP-R18: who is let in', () => {
  test('with a token nobody without it, to nothing', async () => {
    await app.close();
    await open({ kind: 'token', token: 'secret' });
    for (const headers of [{}, { authorization: 'Bearer other' }, { authorization: 'secret' }]) {
      expect((await ask('GET', '/events', undefined, headers)).code).toBe(401);
      expect((await ask('GET', '/openapi.json', undefined, headers)).code).toBe(401);
    }
    expect((await ask('GET', '/events', undefined, { authorization: 'Bearer secret' })).code).toBe(200);
  });

  test.each([
    [{ origin: 'http://evil.example' }, 403],
    [{ host: 'evil.example:80' }, 403],
    [{ host: 'localhost:80' }, 200],
    [{ host: '127.0.0.1:80' }, 200],
    [{ host: '[::1]:80' }, 200],
  ])('without one no browser: %j is %i', async (headers, code) => {
    await app.close();
    await open({ kind: 'loopback' });
    expect((await ask('GET', '/events', undefined, headers)).code).toBe(code);
  });
});

test('/openapi.json describes it', async () => {
  const { code, answer } = await ask('GET', '/openapi.json');
  expect(code).toBe(200);
  expect(answer.openapi).toMatch(/^3\./);
  expect(answer.info.version).toBe('1.2.3');
  expect(Object.keys(answer.paths)).toEqual(['/events', '/events/{topic}']);
  expect(Object.keys(answer.paths['/events'])).toEqual(['get', 'post', 'put', 'delete']);
  const body = answer.paths['/events'].post.requestBody.content['application/json'].schema;
  expect(body).toMatchObject({ type: 'array', items: { properties: { sourcetopic: { type: 'string' } } } });
});
