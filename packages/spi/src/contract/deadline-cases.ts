import type { CallContext } from '../call-context.ts';
import { type ContractCase, demandRejects, skipUnless } from './contract-case.ts';

/** A world that a case can make hang. */
export interface StallingWorld {
  /** Takes calls and never answers them, until the result is called. */
  readonly stall?: () => Promise<() => Promise<void>>;
}

type Call<Subject> = (subject: Subject, ctx: CallContext) => Promise<unknown>;

/** How long the caller of a hanging call waits before it gives up. */
const patienceMs = 100;

/** Demands that `call` ends with its caller's patience; one that goes on is ended, and failed, by the runner's deadline (Law 10). */
export const hangCase = <Subject extends { readonly world?: StallingWorld }>(
  call: Call<Subject>,
): ContractCase<Subject> => ({
  name: 'a call ends when its caller gives up, though the world hangs',
  cites: 'Law 10',
  run: async (subject, ctx) => {
    skipUnless(subject.world?.stall, 'the subject cannot make its world hang');
    const goOn = await subject.world.stall();
    const caller = new AbortController();
    ctx.after(patienceMs, () => caller.abort());
    const patient = { ...ctx, signal: AbortSignal.any([ctx.signal, caller.signal]) };
    try {
      await demandRejects(
        call(subject, patient),
        ['RPC_CANCELLED', 'RPC_TIMEOUT'],
        'a call that was given up while the world hung',
      );
    } finally {
      await goOn();
    }
  },
});

/** {@link hangCase}, and that a call which was given up before it began is refused. */
export const deadlineCases = <Subject extends { readonly world?: StallingWorld }>(
  call: Call<Subject>,
): readonly ContractCase<Subject>[] => [
  {
    name: 'a call whose caller has given up is refused',
    cites: 'Law 10',
    run: async (subject, ctx) => {
      await demandRejects(
        call(subject, { ...ctx, signal: AbortSignal.abort() }),
        ['RPC_CANCELLED', 'RPC_TIMEOUT'],
        'a call whose signal was aborted before',
      );
    },
  },
  hangCase(call),
];
