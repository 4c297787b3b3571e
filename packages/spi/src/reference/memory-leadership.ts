import { BehaviorSubject } from 'rxjs';
import type { LeaderState, Leadership } from '../leadership.ts';

/** What several candidates share: who leads, who waits, and the term. */
export interface MemoryElection {
  /** One more candidate, who leads nothing until it campaigns. */
  readonly join: () => Leadership;
  /** Plays the loss of a lease: the leader goes to the end of the line, and the first of it leads in a new term. */
  readonly loseLease: () => void;
}

interface Candidate {
  readonly state: BehaviorSubject<LeaderState>;
  location: string;
}

const follow = (candidate: Candidate, leader: Candidate | undefined): void => {
  const next: LeaderState =
    leader === undefined ? { kind: 'following' } : { kind: 'following', location: leader.location };
  const { value } = candidate.state;
  if (value.kind !== 'following' || value.location !== next.location) candidate.state.next(next);
};

/** An election in which nobody leads yet. `leaseMs` is what a leader is told of its lease; time itself plays no part. */
export const memoryElection = (leaseMs = 15_000): MemoryElection => {
  const all = new Set<Candidate>();
  const line: Candidate[] = [];
  let term = 0;

  /** Tells everybody who leads; the others before the leader, so that no two ever believe it at once. */
  const settle = (): void => {
    const [leader] = line;
    for (const candidate of all) if (candidate !== leader) follow(candidate, leader);
    if (leader === undefined || leader.state.value.kind === 'leading') return;
    term += 1;
    leader.state.next({ kind: 'leading', term, leaseMs });
  };

  const join = (): Leadership => {
    const self: Candidate = { state: new BehaviorSubject<LeaderState>({ kind: 'following' }), location: '' };
    all.add(self);
    follow(self, line[0]);
    return {
      state: async () => self.state.value,
      campaign: async ({ location }) => {
        self.location = location;
        if (!line.includes(self)) line.push(self);
        settle();
        return {};
      },
      resign: async () => {
        const place = line.indexOf(self);
        if (place >= 0) line.splice(place, 1);
        settle();
        return {};
      },
      watch: () => self.state.asObservable(),
    };
  };

  const loseLease = (): void => {
    const leader = line.shift();
    if (leader === undefined) return;
    line.push(leader);
    leader.state.next({ kind: 'unknown', reason: 'the lease was lost' });
    settle();
  };

  return { join, loseLease };
};
