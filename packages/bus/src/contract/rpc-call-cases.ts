import { type ContractCase, demand, demandEqual, demandRejects } from '@infrakit/spi';
import { oddObjects, type RpcSubject, until, within, withRpc } from './rpc-scene.ts';

const megabytes = 20 * 2 ** 20;

/** What calls carry, in both directions. */
export const rpcCallCases: readonly ContractCase<RpcSubject>[] = [
  {
    name: 'a call is answered, by any object, with a result that cannot be changed',
    cites: 'DESIGN §3 RPC, topics',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ handle }) => {
        for (const object of oddObjects) {
          const value = { text: `${object} 🐄`, list: [1, null, false, { deep: [] }] };
          const answer = await handle({ object }).echo({ value }, ctx);
          demandEqual(answer, { value }, `the echo of object "${object}"`);
          demand(Object.isFrozen(answer) && Object.isFrozen(answer.value), 'results must be frozen');
        }
      }),
  },
  {
    name: 'a thousand calls at once get each its own answer',
    cites: 'DESIGN §3 RPC',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe }) => {
        const numbers = Array.from({ length: 1_000 }, (_, n) => n);
        const answers = await Promise.all(numbers.map((value) => probe.echo({ value }, ctx)));
        demandEqual(
          answers.map(({ value }) => value),
          numbers,
          'the answers in order',
        );
      }),
  },
  {
    name: 'an answer of 20 MB arrives whole',
    cites: 'DESIGN §3 RPC: answers of any size',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe }) => {
        const { text } = await probe.text({ length: megabytes / 2 }, ctx);
        demand(Buffer.byteLength(text) === megabytes && /^ä+$/.test(text), 'each byte of the answer must arrive');
      }),
  },
  {
    name: 'a request of 20 MB arrives whole',
    cites: 'DESIGN §3 RPC: requests of any size',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe }) => {
        const value = 'ä'.repeat(megabytes / 2);
        const answer = await probe.echo({ value }, ctx);
        demand(answer.value === value, 'each byte of the request must arrive, and come back');
      }),
  },
  {
    name: 'an error arrives with its code, facts and causes',
    cites: 'DESIGN §6, STYLE: errors',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe }) => {
        const error = await demandRejects(probe.fail({}, ctx), ['GROUP_INVALID'], 'a call that fails');
        const { message, facts, cause } = error;
        demandEqual(
          { message, facts },
          { message: 'the group is wrong', facts: { field: 'Size', want: [1, 2] } },
          'the error',
        );
        demand(cause instanceof Error && cause.message === 'somebody was faster', 'the cause must arrive');
        demand('code' in cause && cause.code === 'STORE_CONFLICT', 'the code of the cause must arrive');
        demand(cause.cause instanceof Error && cause.cause.message === 'deep', 'the cause of the cause must arrive');
      }),
  },
  {
    name: 'idempotency key, term and trace reach the callee',
    cites: 'DESIGN §3 CallContext, Laws 7 and 12',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe }) => {
        const context = { idempotencyKey: 'k', fencing: { scope: 'leader', term: 3 }, trace: 't' };
        demandEqual(await probe.context({}, { ...ctx, ...context }), { value: context }, 'the context');
        demandEqual(await probe.context({}, ctx), { value: {} }, 'an empty context');
      }),
  },
  {
    name: 'progress reaches the caller and extends the deadline',
    cites: 'DESIGN §3 RPC: progress',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe }) => {
        const notes: string[] = [];
        const patient = {
          ...within(ctx, 300),
          progress: ({ message }: { message: string }) => void notes.push(message),
        };
        demandEqual(await probe.work({ notes: 5, everyMs: 150 }, patient), { count: 5 }, 'the answer after 750 ms');
        demand(notes.length >= 3, `notes of progress must arrive, not only ${notes.length}`);
      }),
  },
  {
    name: 'progress extends the deadline only up to the maximum of the method',
    cites: 'DESIGN §3 RPC: up to a maximum of its own',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe }) => {
        const call = probe.work({ notes: 100, everyMs: 120 }, within(ctx, 300));
        const error = await demandRejects(call, ['RPC_TIMEOUT'], 'a call that works for ever');
        demandEqual(error.facts.timeoutMs, 1_000, 'the deadline in the error');
      }),
  },
  {
    name: 'an answer that never comes is RPC_TIMEOUT at the deadline, and the callee stops',
    cites: 'Law 10, DESIGN §3 RPC',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe, world }) => {
        const before = performance.now();
        await demandRejects(probe.hang({}, within(ctx, 200)), ['RPC_TIMEOUT'], 'a call that hangs');
        const took = performance.now() - before;
        demand(took > 190 && took < 1_500, `it must end after 200 ms, not ${took} ms`);
        await until(ctx, () => world.hanging[0]?.aborted === true, 'the abort at the callee');
      }),
  },
  {
    name: 'a caller that gives up is free at once, and the callee learns of it',
    cites: 'DESIGN §3 RPC: cancellation',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ probe, world }) => {
        const caller = new AbortController();
        const call = probe.hang({}, { ...ctx, timeoutMs: 60_000, signal: caller.signal });
        const refused = demandRejects(call, ['RPC_CANCELLED'], 'a call that was given up');
        await until(ctx, () => world.hanging.length === 1, 'the call');
        caller.abort();
        await refused;
        await until(ctx, () => world.hanging[0]?.aborted === true, 'the abort at the callee');
      }),
  },
  {
    name: 'a call that nobody answers is RPC_TIMEOUT at the deadline',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ handle }) => {
        const wrong = [{ plugin: 'nobody' }, { incarnation: 'n0.1' }];
        for (const target of wrong) {
          const call = handle(target).echo({ value: 1 }, within(ctx, 150));
          await demandRejects(call, ['RPC_TIMEOUT'], `a call to ${JSON.stringify(target)}`);
        }
      }),
  },
];
