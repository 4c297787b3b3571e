import { concatWith, filter, map, NEVER, type Observable, skip, take } from 'rxjs';
import type { LeaderState, Leadership } from '../leadership.ts';
import { memoryElection } from '../reference/memory-leadership.ts';
import type { LeadershipSubject } from './leadership-contract.ts';

const withCandidates = (change: (candidate: Leadership) => Partial<Leadership>): LeadershipSubject => {
  const election = memoryElection();
  const join = (): Leadership => {
    const candidate = election.join();
    return { ...candidate, ...change(candidate) };
  };
  return { first: join(), second: join(), loseLease: async () => election.loseLease() };
};

const withState = (change: (state: LeaderState) => LeaderState): LeadershipSubject =>
  withCandidates((candidate) => ({
    state: async (params, ctx) => change(await candidate.state(params, ctx)),
    watch: () => candidate.watch().pipe(map(change)),
  }));

const withWatch = (change: (states: Observable<LeaderState>) => Observable<LeaderState>): LeadershipSubject =>
  withCandidates((candidate) => ({ watch: () => change(candidate.watch()) }));

/** Candidates with one thing wrong each. */
export const brokenLeaderships = [
  {
    what: 'leads without having campaigned',
    failing: 'nobody leads without a campaign',
    make: () => {
      const subject = withCandidates(() => ({}));
      const state = async (): Promise<LeaderState> => ({ kind: 'leading', term: 1, leaseMs: 1 });
      return { ...subject, first: { ...subject.first, state } };
    },
  },
  {
    what: 'never comes to lead',
    failing: 'the only candidate comes to lead, in a term, with a lease',
    make: () => withCandidates(() => ({ campaign: async () => ({}) })),
  },
  {
    what: 'waits in its campaign until it leads',
    failing: 'a campaign answers at once, also while another leads',
    make: () =>
      withCandidates((candidate) => ({
        campaign: async (params, ctx) => {
          await candidate.campaign(params, ctx);
          await new Promise<void>((resolve) => {
            candidate
              .watch()
              .pipe(
                filter(({ kind }) => kind === 'leading'),
                take(1),
              )
              .subscribe(() => resolve());
          });
          return {};
        },
      })),
  },
  {
    what: 'believes that every candidate leads',
    failing: 'two never lead at once',
    make: () => withCandidates(() => memoryElection().join()),
  },
  {
    what: 'names itself as the leader it follows',
    failing: 'a follower that names a leader names the one that leads',
    make: () => withState((state) => (state.kind === 'following' ? { ...state, location: 'host-of-second' } : state)),
  },
  {
    what: 'begins a new term at each campaign',
    failing: 'a second campaign of a leader changes nothing',
    make: () =>
      withCandidates((candidate) => ({
        campaign: async (params, ctx) => {
          await candidate.resign({}, ctx);
          return candidate.campaign(params, ctx);
        },
      })),
  },
  {
    what: 'leads in the same term for ever',
    failing: 'after a resign the next one leads, in a higher term',
    make: () => withState((state) => (state.kind === 'leading' ? { ...state, term: 1 } : state)),
  },
  {
    what: 'does not step down',
    failing: 'after a resign the next one leads, in a higher term',
    make: () => withCandidates(() => ({ resign: async () => ({}) })),
  },
  {
    what: 'campaigns again by itself after a resign',
    failing: 'after a resign the next one leads, in a higher term',
    make: () =>
      withCandidates((candidate) => ({
        resign: async (params, ctx) => {
          await candidate.resign(params, ctx);
          return candidate.campaign({ location: 'again' }, ctx);
        },
      })),
  },
  {
    what: 'unseats the leader when a follower resigns',
    failing: 'a resign of one who does not lead is no error, and leaves the leader alone',
    make: () => {
      const { first, second } = withCandidates(() => ({}));
      return { first, second: { ...second, resign: async (_, ctx) => first.resign({}, ctx) } };
    },
  },
  {
    what: 'refuses a resign of one who does not lead',
    failing: 'a resign of one who does not lead is no error, and leaves the leader alone',
    make: () =>
      withCandidates((candidate) => ({
        resign: async (params, ctx) => {
          if ((await candidate.state({}, ctx)).kind !== 'leading') throw new Error('not a leader');
          return candidate.resign(params, ctx);
        },
      })),
  },
  {
    what: 'has a watch without the present state',
    failing: 'a watch tells the present state first, then each change, and never fails or ends',
    make: () => withWatch((states) => states.pipe(skip(1))),
  },
  {
    what: 'has a watch of the present state only',
    failing: 'a watch tells the present state first, then each change, and never fails or ends',
    make: () => withWatch((states) => states.pipe(take(1), concatWith(NEVER))),
  },
  {
    what: 'has a watch that ends with the leadership',
    failing: 'a watch tells the present state first, then each change, and never fails or ends',
    make: () => withWatch((states) => states.pipe(take(2))),
  },
  {
    what: 'believes in a lease that is lost',
    failing: 'one that loses its lease knows it, and the next one leads in a higher term',
    make: () => {
      let last: LeaderState = { kind: 'following' };
      const subject = withCandidates(() => ({}));
      const state: Leadership['state'] = async (params, ctx) => {
        const now = await subject.first.state(params, ctx);
        last = last.kind === 'leading' ? last : now;
        return last;
      };
      return { ...subject, first: { ...subject.first, state } };
    },
  },
] satisfies readonly { what: string; failing: string; make: () => LeadershipSubject }[];
