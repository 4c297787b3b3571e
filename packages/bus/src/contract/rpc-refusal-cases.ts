import { topicsUnder } from '@infrakit/core';
import { type ContractCase, demand, demandEqual, demandRejects } from '@infrakit/spi';
import { decodeFrame } from '../rpc/rpc-frame.ts';
import { probeInterface, type RpcSubject, until, within, withRpc } from './rpc-scene.ts';

const codeOf = (frame: unknown): unknown => (frame as { error?: { data?: { code?: unknown } } }).error?.data?.code;

/** What a server refuses, and what it does not do twice. */
export const rpcRefusalCases: readonly ContractCase<RpcSubject>[] = [
  {
    name: 'unknown object, method, version and bad parameters are distinct',
    cites: 'DESIGN §3 RPC: distinct codes',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ handle, caller, request, publish, clientConnection, topics, world }) => {
        const call = handle({ object: 'nothing' }).echo({ value: 1 }, ctx);
        await demandRejects(call, ['OBJECT_UNKNOWN'], 'a call to an unknown object');
        const { methods, name, version } = probeInterface;
        const later = caller({ name, version, methods: { later: methods.echo } }, 'later');
        await demandRejects(later({ value: 1 }, ctx), ['METHOD_UNKNOWN'], 'a call of an unknown method');
        const foreign = caller({ ...probeInterface, name: 'Other' }, 'echo');
        await demandRejects(foreign({ value: 1 }, ctx), ['METHOD_UNKNOWN'], 'a call of an interface it does not have');
        const second = caller({ ...probeInterface, version: '2.0.0' }, 'echo');
        const error = await demandRejects(second({ value: 1 }, ctx), ['INTERFACE_VERSION'], 'another major version');
        demandEqual(error.facts, { interface: 'Probe', offered: '1.2.0', wanted: '2.0.0' }, 'the facts of the error');
        const newer = caller({ ...probeInterface, version: '1.9.0' }, 'echo');
        demandEqual(await newer({ value: 1 }, ctx), { value: 1 }, 'the answer to a newer minor version');

        const codes: unknown[] = [];
        const own = clientConnection.subscribe(topics.reply(clientConnection.clientId), 1, ({ payload }) =>
          codes.push(codeOf(decodeFrame(payload))),
        );
        await own.ready();
        await publish('Probe.Act', request('act', { name: 7 }));
        await publish('Probe.Act', request('act', { name: 'a', surprise: 1 }));
        await until(ctx, () => codes.length === 2, 'both answers');
        demandEqual(codes, ['PARAMS_INVALID', 'PARAMS_INVALID'], 'the answers to bad parameters');
        demandEqual(world.acts, [], 'what was done');
      }),
  },
  {
    name: 'bad parameters do not leave the caller',
    cites: 'STYLE: parse at the edge',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe, world }) => {
        const call = probe.act({ name: 7 } as never, ctx);
        await demandRejects(call, ['PARAMS_INVALID'], 'bad parameters');
        demandEqual(world.acts, [], 'what was done');
      }),
  },
  {
    name: 'a request that is delivered again acts once and is answered again',
    cites: 'DESIGN §3 RPC: a redelivered request gets its stored answer',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ request, publish, clientConnection, topics, world }) => {
        const answers: unknown[] = [];
        const own = clientConnection.subscribe(topics.reply(clientConnection.clientId), 1, ({ payload }) =>
          answers.push(decodeFrame(payload)),
        );
        await own.ready();
        const twice = request('act', { name: 'a' });
        await publish('Probe.Act', twice);
        await until(ctx, () => answers.length === 1, 'the first answer');
        await publish('Probe.Act', twice);
        await until(ctx, () => answers.length === 2, 'the second answer');
        demandEqual(answers[1], answers[0], 'the second answer');
        demandEqual(world.acts, ['a'], 'what was done');
        await publish('Probe.Act', { ...twice, replyTo: topics.reply('another') });
        await until(ctx, () => world.acts.length === 2, 'the same id of another client, which is another call');
      }),
  },
  {
    name: 'a request that is delivered again while it runs joins it',
    cites: 'DESIGN §3 RPC: joins the one still running',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ request, publish, clientConnection, topics, world }) => {
        const answers: unknown[] = [];
        const own = clientConnection.subscribe(topics.reply(clientConnection.clientId), 1, ({ payload }) =>
          answers.push(decodeFrame(payload)),
        );
        await own.ready();
        let release = (): void => {};
        world.hold.until = new Promise<void>((resolve) => {
          release = resolve;
        });
        const twice = request('act', { name: 'a' });
        await publish('Probe.Act', twice);
        await until(ctx, () => world.acts.length === 1, 'the act');
        await publish('Probe.Act', twice);
        await publish('Probe.Echo', request('echo', { value: 1 }));
        await until(ctx, () => answers.length === 1, 'the answer to what came later');
        release();
        await until(ctx, () => answers.length === 2, 'the answer to the act');
        demandEqual(world.acts, ['a'], 'what was done');
      }),
  },
  {
    name: 'a request past its deadline is dropped, and only then',
    cites: 'DESIGN §3 RPC: a server drops requests past their deadline',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ request, publish, clientConnection, topics, world }) => {
        const codes: unknown[] = [];
        const own = clientConnection.subscribe(topics.reply(clientConnection.clientId), 1, ({ payload }) =>
          codes.push(codeOf(decodeFrame(payload)) ?? 'done'),
        );
        await own.ready();
        const ago = (ms: number, host: string) => ({ sentAtMs: Date.now() - ms, timeoutMs: 1_000, host });
        const sent = [ago(1_500, 'here'), ago(5_000, 'there'), ago(6_500, 'there'), ago(-60_000, 'there')];
        for (const [n, changes] of sent.entries()) {
          await publish('Probe.Act', request('act', { name: `${n}` }, changes));
          await until(ctx, () => codes.length === n + 1, `answer ${n}`);
        }
        demandEqual(codes, ['RPC_EXPIRED', 'done', 'RPC_EXPIRED', 'done'], 'the answers');
        demandEqual(world.acts, ['1', '3'], 'what was done');
      }),
  },
  {
    name: 'a request of an older term is refused',
    cites: 'Law 12',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe, handle, world }) => {
        await probe.act({ name: 'new leader' }, { ...ctx, fencing: { scope: 'leader', term: 8 } });
        const error = await demandRejects(
          probe.act({ name: 'old leader' }, { ...ctx, fencing: { scope: 'leader', term: 7 } }),
          ['TERM_STALE'],
          'a call of an older term',
        );
        demandEqual(error.facts, { scope: 'leader', term: 7, highest: 8 }, 'the facts of the error');
        await probe.act({ name: 'again' }, { ...ctx, fencing: { scope: 'leader', term: 8 } });
        await probe.act({ name: 'no term' }, ctx);
        await probe.act({ name: 'another election' }, { ...ctx, fencing: { scope: 'other', term: 1 } });
        await handle({ object: 'a/b' }).act(
          { name: 'another object' },
          { ...ctx, fencing: { scope: 'leader', term: 1 } },
        );
        demandEqual(
          world.acts,
          ['new leader', 'again', 'no term', 'another election', 'another object'],
          'what was done',
        );
      }),
  },
  {
    name: 'a managed object is changed through its proxy only, and read by all',
    cites: 'DESIGN §3: proxyFor',
    run: (subject, ctx) =>
      withRpc(
        subject,
        ctx,
        async ({ handle, world }) => {
          const managed = { object: 'a/b' };
          for (const via of [undefined, 'otherstack/b']) {
            const call = handle(managed, via).act({ name: 'direct' }, ctx);
            const error = await demandRejects(call, ['OBJECT_MANAGED'], 'a mutation beside the proxy');
            demandEqual(error.facts, { object: 'a/b', proxy: 'mystack/b' }, 'the facts of the error');
          }
          await handle(managed, 'mystack/b').act({ name: 'by proxy' }, ctx);
          await handle({}).act({ name: 'not managed' }, ctx);
          demandEqual(await handle(managed).echo({ value: 1 }, ctx), { value: 1 }, 'a read beside the proxy');
          demandEqual(world.acts, ['by proxy', 'not managed'], 'what was done');
        },
        { managedBy: (object) => (object === 'a/b' ? 'mystack/b' : undefined) },
      ),
  },
  {
    name: 'a standby says that it does not lead',
    cites: 'DESIGN §3: answer only while leading',
    run: async (subject, ctx) => {
      let isLeading = false;
      await withRpc(
        subject,
        ctx,
        async ({ probe, world }) => {
          await demandRejects(probe.act({ name: 'a' }, ctx), ['LEADER_NOT'], 'a call to a standby');
          isLeading = true;
          await probe.act({ name: 'b' }, ctx);
          demandEqual(world.acts, ['b'], 'what was done');
        },
        { isAnswering: () => isLeading },
      );
    },
  },
  {
    name: 'of two incarnations only the one that is asked answers',
    cites: 'DESIGN §3: incarnations',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ serve, handle, world }) => {
        await serve({ incarnation: 'n2.1', isAnswering: () => false });
        await handle({ incarnation: 'n1.1' }).act({ name: 'first' }, ctx);
        await demandRejects(handle({ incarnation: 'n2.1' }).act({ name: 'second' }, ctx), ['LEADER_NOT'], 'the second');
        demandEqual(world.acts, ['first'], 'what was done');
      }),
  },
  {
    name: 'two stacks under different prefixes never hear each other',
    cites: 'DESIGN §3: topics',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ serve, probe, topics, world }) => {
        await serve({ topics: topicsUnder(`${topics.prefix}-other`), isAnswering: () => false });
        await serve({ topics: topicsUnder(`${topics.prefix}/other`), isAnswering: () => false });
        for (let n = 0; n < 20; n += 1) await probe.act({ name: 'a' }, within(ctx, 1_000));
        demand(world.acts.length === 20, 'each call must be answered by its own stack, once');
      }),
  },
];
