import type { LeaderState, Leadership } from '../leadership.ts';
import {
  type ContractContext,
  ContractFailure,
  type ContractSuite,
  demand,
  demandEqual,
  eventually,
  skipUnless,
} from './contract-case.ts';

/** What the suite needs to know of an election that nobody has entered yet. */
export interface LeadershipSubject {
  readonly first: Leadership;
  readonly second: Leadership;
  /** Takes the lease from the one who leads, as a lost store or a long pause would. */
  readonly loseLease?: () => Promise<void>;
}

type Leading = Extract<LeaderState, { readonly kind: 'leading' }>;

const campaign = async (candidate: Leadership, location: string, ctx: ContractContext): Promise<void> => {
  await candidate.campaign({ location }, ctx);
};

/** Waits until one of the candidates leads in a term above `above`; gives it and its term. */
const untilOneLeads = async (
  candidates: readonly Leadership[],
  ctx: ContractContext,
  above: number,
): Promise<[Leadership, number]> => {
  const found: [Leadership, number][] = [];
  await eventually(ctx, true, async () => {
    for (const candidate of candidates) {
      const state = await candidate.state({}, ctx);
      if (state.kind === 'leading' && state.term > above) found.push([candidate, state.term]);
    }
    demand(found.length > 0, `one of the candidates must come to lead in a term above ${above}; none did`);
  });
  const [leader] = found;
  if (leader === undefined) throw new ContractFailure('one of the candidates must come to lead');
  return leader;
};

/** Waits until the candidate leads, in a term above `above`. */
const untilLeading = async (candidate: Leadership, ctx: ContractContext, above = 0): Promise<Leading> => {
  await untilOneLeads([candidate], ctx, above);
  const state = await candidate.state({}, ctx);
  if (state.kind !== 'leading') throw new ContractFailure('a candidate with nobody before it must stay the leader');
  return state;
};

const demandNotLeading = async (candidate: Leadership, why: string, ctx: ContractContext): Promise<LeaderState> => {
  const state = await candidate.state({}, ctx);
  demand(state.kind !== 'leading', why);
  return state;
};

/** Demands on {@link Leadership}: one leader at most, rising terms, stepping down that lets others lead. */
export const leadershipContract: ContractSuite<LeadershipSubject> = {
  name: 'Leadership',
  cases: [
    {
      name: 'nobody leads without a campaign',
      cites: 'Law 12',
      run: async ({ first, second }, ctx) => {
        await campaign(second, 'second', ctx);
        await untilLeading(second, ctx);
        await second.resign({}, ctx);
        await demandNotLeading(first, 'a candidate that never campaigned must not lead', ctx);
      },
    },
    {
      name: 'the only candidate comes to lead, in a term, with a lease',
      cites: 'Law 12',
      run: async ({ first }, ctx) => {
        await campaign(first, 'first', ctx);
        const { term, leaseMs } = await untilLeading(first, ctx);
        demand(Number.isInteger(term), `a term is a whole number, not ${term}`);
        demand(leaseMs >= 0, `a lease lasts 0 ms or more, not ${leaseMs}`);
      },
    },
    {
      name: 'a campaign answers at once, also while another leads',
      cites: 'Law 10',
      run: async ({ first, second }, ctx) => {
        await campaign(first, 'first', ctx);
        await untilLeading(first, ctx);
        let isAnswered = false;
        const answered = campaign(second, 'second', ctx).then(() => {
          isAnswered = true;
        });
        await eventually(ctx, true, async () => {
          demand(isAnswered, 'a campaign must answer at once; it waited while another led');
        });
        await answered;
        await demandNotLeading(second, 'a second candidate must not lead beside the first', ctx);
      },
    },
    {
      name: 'a follower that names a leader names the one that leads',
      cites: 'DESIGN §3',
      run: async ({ first, second }, ctx) => {
        await campaign(first, 'host-of-first', ctx);
        await untilLeading(first, ctx);
        await campaign(second, 'host-of-second', ctx);
        await eventually(ctx, true, async () => {
          const state = await second.state({}, ctx);
          demand(state.kind === 'following', `the second candidate must follow; it is ${state.kind}`);
          if (state.location !== undefined) demandEqual(state.location, 'host-of-first', 'the location of the leader');
        });
      },
    },
    {
      name: 'a second campaign of a leader changes nothing',
      cites: 'DESIGN §3 idempotent by its parameters',
      run: async ({ first, second }, ctx) => {
        await campaign(first, 'first', ctx);
        const { term } = await untilLeading(first, ctx);
        await campaign(second, 'second', ctx);
        await campaign(first, 'first', ctx);
        const again = await untilLeading(first, ctx);
        demandEqual(again.term, term, 'the term after campaigning twice');
        await first.resign({}, ctx);
        await untilLeading(second, ctx, term);
      },
    },
    {
      name: 'after a resign the next one leads, in a higher term',
      cites: 'Law 12',
      run: async ({ first, second }, ctx) => {
        await campaign(first, 'first', ctx);
        const { term } = await untilLeading(first, ctx);
        await campaign(second, 'second', ctx);
        await first.resign({}, ctx);
        await demandNotLeading(first, 'a candidate that has resigned must not lead', ctx);
        const { term: next } = await untilLeading(second, ctx, term);
        await second.resign({}, ctx);
        await demandNotLeading(first, 'a resigned candidate must not lead before it campaigns again', ctx);
        await campaign(first, 'first', ctx);
        await untilLeading(first, ctx, next);
      },
    },
    {
      name: 'a resign of one who does not lead is no error, and leaves the leader alone',
      cites: 'DESIGN §3 idempotent by its parameters',
      run: async ({ first, second }, ctx) => {
        await second.resign({}, ctx);
        await campaign(first, 'first', ctx);
        const { term } = await untilLeading(first, ctx);
        await campaign(second, 'second', ctx);
        await second.resign({}, ctx);
        await second.resign({}, ctx);
        demandEqual((await untilLeading(first, ctx)).term, term, 'the term of the leader after others resigned');
        await first.resign({}, ctx);
        await demandNotLeading(second, 'a candidate that has resigned must not lead', ctx);
      },
    },
    {
      name: 'a watch tells the present state first, then each change, and never fails or ends',
      cites: 'DESIGN §2 leadership',
      run: async ({ first }, ctx) => {
        await campaign(first, 'first', ctx);
        const { term } = await untilLeading(first, ctx);
        const seen: LeaderState[] = [];
        const problems: string[] = [];
        const subscription = first.watch().subscribe({
          next: (state) => seen.push(state),
          error: (thrown: unknown) => problems.push(`failed: ${String(thrown)}`),
          complete: () => problems.push('ended'),
        });
        try {
          await eventually(ctx, true, async () => {
            const [present] = seen;
            demand(present?.kind === 'leading', 'a watch must begin with the present state');
            demandEqual(present.term, term, 'the term that the watch begins with');
          });
          await first.resign({}, ctx);
          await eventually(ctx, true, async () => {
            const last = seen.at(-1);
            demand(last !== undefined && last.kind !== 'leading', 'a watch must tell that the leader stepped down');
          });
          demandEqual(problems, [], 'the problems of the watch');
        } finally {
          subscription.unsubscribe();
        }
      },
    },
    {
      name: 'two never lead at once',
      cites: 'Law 12',
      run: async ({ first, second }, ctx) => {
        const leading = new Set<string>();
        const both: string[] = [];
        const follow = (name: string, candidate: Leadership) =>
          candidate.watch().subscribe((state) => {
            if (state.kind === 'leading') leading.add(name);
            else leading.delete(name);
            if (leading.size > 1) both.push(`${name} led beside another`);
          });
        const subscriptions = [follow('first', first), follow('second', second)];
        try {
          await Promise.all([campaign(first, 'first', ctx), campaign(second, 'second', ctx)]);
          let term = 0;
          for (let change = 0; change < 4; change += 1) {
            const [leader, reached] = await untilOneLeads([first, second], ctx, term);
            term = reached;
            await leader.resign({}, ctx);
            await campaign(leader, 'again', ctx);
          }
          demandEqual(both, [], 'the moments with two leaders');
        } finally {
          for (const subscription of subscriptions) subscription.unsubscribe();
        }
      },
    },
    {
      name: 'one that loses its lease knows it, and the next one leads in a higher term',
      cites: 'Law 12',
      run: async ({ first, second, loseLease }, ctx) => {
        skipUnless(loseLease, 'there is no way to take the lease from a leader');
        await campaign(first, 'first', ctx);
        const { term } = await untilLeading(first, ctx);
        await campaign(second, 'second', ctx);
        await loseLease();
        await eventually(ctx, true, async () => {
          await demandNotLeading(first, 'one whose lease is lost must not believe that it leads', ctx);
        });
        await untilLeading(second, ctx, term);
      },
    },
  ],
};
