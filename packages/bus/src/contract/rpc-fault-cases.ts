import {
  type ContractCase,
  demand,
  demandEqual,
  demandRejects,
  instanceInterface,
  memoryInstance,
  pluginObject,
  skipUnless,
} from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { chunksOf } from '../rpc/chunks.ts';
import { rpcProxy } from '../rpc/rpc-proxy.ts';
import { type RpcSubject, until, within, withRpc } from './rpc-scene.ts';

/** Bytes that no client of ours sends. */
const garbage: readonly (string | Uint8Array)[] = [
  '',
  'null',
  '[]',
  '{}',
  '{"jsonrpc":"2.0"}',
  '{"chunk":',
  '{"chunk":"x","n":0,"of":0}\n',
  '{"chunk":"x","n":0,"of":900000000}\nx',
  '{"chunk":"x","n":-1,"of":2}\nx',
  `{"chunk":"${'x'.repeat(5_000)}","n":0,"of":2}\n`,
  new Uint8Array([0xff, 0xfe, 0x00, 0x80]),
  '['.repeat(100_000),
  `{"jsonrpc":"2.0","id":1,"method":"Probe.Act","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
];

/** Losses, garbage and crashes. */
export const rpcFaultCases: readonly ContractCase<RpcSubject>[] = [
  {
    name: 'a request of which a piece is lost does nothing',
    cites: 'DESIGN §3 RPC: complete or an error',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ request, publish, probe, world }) => {
        const pieces = [...chunksOf('torn', JSON.stringify(request('act', { name: 'x'.repeat(1_000) })), 100)];
        for (const piece of pieces.filter((_, n) => n !== 3)) await publish('Probe.Act', piece);
        await probe.act({ name: 'whole' }, ctx);
        demandEqual(world.acts, ['whole'], 'what was done');
        const [, , , missing = new Uint8Array()] = pieces;
        await publish('Probe.Act', missing);
        await until(ctx, () => world.acts.length === 2, 'the request, when its last piece came out of order');
      }),
  },
  {
    name: 'an answer of which a piece is lost is RPC_TIMEOUT, never a shorter one',
    cites: 'DESIGN §3 RPC: never a shorter list',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ handle, serverConnection, topics, clientConnection }) => {
        const forged = serverConnection.subscribe(topics.filters.rpc('forged'), 1, ({ payload }) => {
          const { id } = JSON.parse(Buffer.from(payload).toString());
          const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { value: 'x'.repeat(1_000) } });
          const pieces = [...chunksOf('forged', answer, 100)].filter((_, n) => n !== 5);
          for (const piece of pieces) {
            serverConnection.publish(topics.reply(clientConnection.clientId), piece, { qos: 1 }).catch(() => {});
          }
        });
        await forged.ready();
        const call = handle({ plugin: 'forged' }).echo({ value: 1 }, within(ctx, 300));
        await demandRejects(call, ['RPC_TIMEOUT'], 'a call with a torn answer');
      }),
  },
  {
    name: 'garbage is counted, logged once a minute, and stops neither server nor client',
    cites: 'STYLE: a bad message is a value',
    run: (subject, ctx) =>
      withRpc(
        subject,
        ctx,
        async ({ publish, probe, server, client, clientConnection, serverConnection, ...scene }) => {
          const reply = scene.topics.reply(clientConnection.clientId);
          for (const bytes of garbage) {
            await publish('Probe.Act', bytes);
            await publish('Probe.Echo', bytes);
            await serverConnection.publish(reply, bytes, { qos: 1 });
          }
          await publish('Probe.Echo', scene.request('act', { name: 'of another topic' }));
          await publish(
            'Probe.Act',
            scene.request('act', { name: 'a' }, { replyTo: `${scene.topics.prefix}/state/a/b` }),
          );
          demandEqual(await probe.echo({ value: 1 }, ctx), { value: 1 }, 'the answer after it');
          await until(ctx, () => server.badCount() === garbage.length * 2 + 2, 'the count of the server');
          await until(ctx, () => client.badCount() === garbage.length, 'the count of the client');
          const lines = scene.warnings.filter(({ message }) => message === 'bad message dropped');
          demand(lines.length === 2, `server and client must each log one line, not ${lines.length} in all`);
          demandEqual(scene.world.acts, [], 'what was done');
        },
      ),
  },
  {
    name: 'a server that dies between act and answer: the call ends at its deadline, and the retry acts once',
    cites: 'Laws 7 and 11',
    run: (subject, ctx) =>
      withRpc(subject, ctx, async ({ serve, client, serverConnection }) => {
        const { instance, world } = memoryInstance();
        const hanging: typeof instance = {
          ...instance,
          provision: async (params, context) => {
            await instance.provision(params, context);
            return new Promise(() => {});
          },
        };
        const machines = (implementation: typeof instance, connection: Connection, incarnation: string) =>
          serve({
            connection,
            plugin: 'machines',
            incarnation,
            objects: () => [pluginObject({ object: '', description: instanceInterface, implementation })],
          });
        const handle = (incarnation: string) =>
          rpcProxy(client, instanceInterface, () => ({
            kind: 'remote',
            target: { plugin: 'machines', object: '', incarnation },
          }));
        const spec = { Properties: {}, Tags: {}, Init: '', LogicalID: null, Attachments: null };
        const keyed = { ...within(ctx, 1_000), idempotencyKey: 'k' };

        await machines(hanging, serverConnection, 'n1.1');
        const refused = demandRejects(
          handle('n1.1').provision({ spec }, keyed),
          ['RPC_TIMEOUT'],
          'a call to a server that died',
        );
        await until(ctx, () => world.all().length === 1, 'the act');
        serverConnection.sever();
        await refused;

        const connection = await subject.connect(`${serverConnection.clientId}-again`);
        await machines(instance, connection, 'n2.1');
        const { id } = await handle('n2.1').provision({ spec }, keyed);
        demandEqual(
          world.all().map(({ ID }) => ID),
          [id],
          'what there is after the retry',
        );
        await connection.close();
      }),
  },
  {
    name: 'a call goes on over a cut connection and acts once',
    cites: 'DESIGN §3 RPC: a retried request joins the one still running',
    run: async (subject, ctx) => {
      skipUnless(subject.cut, 'the connections cannot be cut');
      const { cut } = subject;
      await withRpc(subject, ctx, async ({ probe, world }) => {
        let release = (): void => {};
        world.hold.until = new Promise<void>((resolve) => {
          release = resolve;
        });
        const call = probe.act({ name: 'a' }, within(ctx, 10_000));
        await until(ctx, () => world.acts.length === 1, 'the act');
        await cut();
        release();
        demandEqual(await call, { count: 1 }, 'the answer');
        demandEqual(world.acts, ['a'], 'what was done');
      });
    },
  },
  {
    name: 'a broker that answers nothing any more: the call ends at its deadline, and the next ones work when it is back',
    cites: 'Law 10',
    run: async (subject, ctx) => {
      skipUnless(subject.freeze, 'the broker cannot be frozen');
      const { freeze } = subject;
      await withRpc(subject, ctx, async ({ probe }) => {
        const thaw = await freeze();
        try {
          const call = probe.echo({ value: 1 }, within(ctx, 200));
          await demandRejects(call, ['RPC_TIMEOUT', 'BUS_UNAVAILABLE'], 'a call over a frozen broker');
        } finally {
          thaw();
        }
        demandEqual(await probe.echo({ value: 2 }, ctx), { value: 2 }, 'the answer afterwards');
      });
    },
  },
];
