import { describe, expect, it } from 'vitest';
import { RpcChunk, topicDelivery, topicSchemas } from './topic-schema.ts';

const call = {
  jsonrpc: '2.0',
  id: 'c1',
  method: 'Group.Members',
  params: {},
  replyTo: 'infrakit/reply/cli-1',
  to: 'n1.1',
  host: 'h',
  sentAtMs: 1_767_225_600_000,
  timeoutMs: 10_000,
  version: '1.0.0',
  context: {},
};
const state = {
  kind: 'group',
  revision: 3,
  specHash: 'h',
  conditions: [{ type: 'held', isTrue: false, reason: '', sinceMs: 0 }],
  counts: { members: 5 },
  digest: 'd',
  incarnation: 'n1.1',
  seq: 9,
};

const good = [
  ['process', { pid: 1, host: 'h', version: '0.1.0', term: 4 }],
  ['process', { pid: 1, host: 'h', version: '0.1.0' }],
  [
    'plugin',
    {
      process: 'n1',
      role: 'standby',
      interfaces: [
        { name: 'Group', version: '1.0.0', objects: [{ name: '' }, { name: 'cattle', proxyFor: 'group/cattle' }] },
      ],
      term: 1,
    },
  ],
  ['rpc', call],
  ['rpc', { ...call, context: { idempotencyKey: 'k', fencing: { scope: 's', term: 7 }, trace: 't' } }],
  ['rpc', { ...call, via: 'mystack/cattle' }],
  ['rpc', { jsonrpc: '2.0', method: 'cancel', params: { id: 'c1', replyTo: 'infrakit/reply/cli-1', to: 'n1.1' } }],
  ['reply', { jsonrpc: '2.0', id: 1, result: null }],
  [
    'reply',
    { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'no', data: { code: 'TERM_STALE', facts: {} } } },
  ],
  ['reply', { jsonrpc: '2.0', method: 'progress', params: { id: 'c1', seq: 0, message: '3 of 5', fraction: 0.6 } }],
  [
    'reply',
    {
      jsonrpc: '2.0',
      id: 'c1',
      error: { code: -32_000, message: 'no', data: { code: 'INTERNAL', facts: { a: 1 }, cause: { message: 'deep' } } },
    },
  ],
  ['event', { Topic: 'cattle/member/joined', ID: 'cattle/i-1', Message: '', Timestamp: '2026-01-01T00:00:00Z' }],
  ['event', { Topic: 'a', ID: 'i', Message: '', Timestamp: '2026-01-01T00:00:00Z', Nonce: 'n1.1.1', Seq: 1 }],
  ['state', state],
  ['member', { ID: 'i-1', LogicalID: null, Tags: null, Health: 'healthy', Address: '10.0.0.1' }],
] as const;

const bad = [
  ['process', { pid: 0, host: 'h', version: '1' }],
  ['process', { pid: 1, host: 'h', version: '1', term: -1 }],
  ['plugin', { process: 'n1', role: 'leader', interfaces: [] }],
  ['rpc', { ...call, jsonrpc: '1.0' }],
  ['rpc', { ...call, params: [] }],
  ['rpc', { ...call, timeoutMs: 0 }],
  ['rpc', { ...call, replyTo: undefined }],
  ['rpc', { ...call, to: '' }],
  ['rpc', { ...call, via: '' }],
  ['rpc', { jsonrpc: '2.0', method: 'cancel', params: { id: 'c1' } }],
  ['reply', { jsonrpc: '2.0', id: 1, result: 1, error: { code: 1, message: '', data: { code: 'X', facts: {} } } }],
  ['reply', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'text only' } }],
  ['event', { ID: 'x', Message: '', Timestamp: '2026-01-01T00:00:00Z' }],
  ['state', { ...state, spec: {} }],
  ['state', { ...state, counts: { members: -1 } }],
  ['member', { ID: 'i-1', LogicalID: null, Tags: null, Health: 'healthy', Properties: {} }],
] as const;

describe('payloads by topic (DESIGN §3)', () => {
  it.each(good)('%s accepts %j and changes nothing', (kind, payload) => {
    expect(topicSchemas[kind].parse(payload)).toEqual(payload);
  });

  it.each(bad)('%s refuses %j', (kind, payload) => {
    expect(topicSchemas[kind].safeParse(payload).success).toBe(false);
  });

  it('refuses an unknown field everywhere', () => {
    for (const [kind, payload] of good) {
      expect(topicSchemas[kind].safeParse({ ...payload, surprise: 1 }).success).toBe(false);
    }
  });

  it('keeps what is, never what happens', () => {
    const retained = Object.entries(topicDelivery).filter(([, { retain }]) => retain);
    expect(retained.map(([kind]) => kind).sort()).toEqual(['member', 'plugin', 'process', 'state']);
  });
});

describe('the first line of a piece (DESIGN §3)', () => {
  it.each([
    { chunk: 'c1', n: 0, of: 1 },
    { chunk: 'c1', n: 4, of: 5 },
  ])('accepts %j', (line) => expect(RpcChunk.parse(line)).toEqual(line));

  it.each([
    { chunk: 'c1', n: 2, of: 2 },
    { chunk: 'c1', n: -1, of: 2 },
    { chunk: '', n: 0, of: 2 },
    { chunk: 'c1', n: 0.5, of: 2 },
    { chunk: 'c1', n: 0, of: 2, text: 'x' },
  ])('refuses %j', (line) => expect(RpcChunk.safeParse(line).success).toBe(false));
});
