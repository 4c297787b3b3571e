import { type ContractContext, demand, skipUnless } from '@infrakit/spi';
import { filter, firstValueFrom } from 'rxjs';
import type { Connection, ConnectionStatus, Message, Will } from '../connection/connection.ts';

/** A broker of one case's own, and clients of the implementation that is checked. It forgets everything at its end. */
export interface ConnectionSubject {
  /** A connected client that reconnects within 3 s. */
  readonly connect: (options: { readonly clientId: string; readonly will?: Will }) => Promise<Connection>;
  /** Connects a client that never says anything again; the broker gives it up within 8 s. */
  readonly connectMute: (options: { readonly clientId: string; readonly will: Will }) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** After `stop`; nothing is retained from before. */
  readonly start: () => Promise<void>;
  /** The broker stays connected and does nothing; left out where that cannot be. */
  readonly freeze?: () => void;
  readonly thaw: () => void;
}

/** What came in on one filter, as text. */
export interface Inbox {
  readonly messages: Message[];
  readonly texts: () => string[];
  readonly close: () => void;
}

/** A case at work: its clients, which are closed at its end, and ways to wait. */
export interface ConnectionScene {
  readonly connect: (clientId: string, will?: Will) => Promise<Connection>;
  /** A subscription that the broker has acknowledged. */
  readonly listen: (connection: Connection, filter: string, qos?: 0 | 1 | 2) => Promise<Inbox>;
  /** Waits until the condition holds; fails with the sentence after `ms`, 5 s when left out. */
  readonly until: (condition: () => boolean, sentence: string, ms?: number) => Promise<void>;
  /** Waits for a status, present or to come; fails after 5 s. */
  readonly status: (connection: Connection, kind: ConnectionStatus['kind']) => Promise<ConnectionStatus>;
}

export const textOf = ({ payload }: Message): string => new TextDecoder().decode(payload);

/** The broker does nothing from now on; the case is skipped where that cannot be. */
export const freeze = (subject: ConnectionSubject): void => {
  skipUnless(subject.freeze, 'a broker in the process of its client cannot stand still alone');
  subject.freeze();
};

const pollMs = 5;
const patienceMs = 5_000;

/** A will that clears a retained topic: what says that a process is gone (DESIGN §3). */
export const clearing = (topic: string): Will => ({ topic, payload: '', qos: 1, retain: true });

/** Runs a case with a scene of its own and closes its clients after it. */
export const withScene = async (
  subject: ConnectionSubject,
  ctx: ContractContext,
  run: (scene: ConnectionScene) => Promise<void>,
): Promise<void> => {
  const connections: Connection[] = [];
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      ctx.after(pollMs, resolve);
    });
  const until = async (condition: () => boolean, sentence: string, ms = patienceMs): Promise<void> => {
    let isLate = false;
    const stop = ctx.after(ms, () => {
      isLate = true;
    });
    while (!condition() && !isLate) await pause();
    stop();
    demand(condition(), sentence);
  };
  const scene: ConnectionScene = {
    connect: async (clientId, will) => {
      const connection = await subject.connect({ clientId, ...(will === undefined ? {} : { will }) });
      connections.push(connection);
      return connection;
    },
    listen: async (connection, pattern, qos = 1) => {
      const messages: Message[] = [];
      const subscription = connection.subscribe(pattern, qos, (message) => messages.push(message));
      await subscription.ready();
      return { messages, texts: () => messages.map(textOf), close: subscription.close };
    },
    until,
    status: async (connection, kind) => {
      let found: ConnectionStatus | undefined;
      firstValueFrom(connection.status.pipe(filter((status) => status.kind === kind))).then(
        (status) => {
          found = status;
        },
        () => undefined,
      );
      await until(() => found !== undefined, `the status must become "${kind}"`);
      return found ?? { kind: 'closed' };
    },
  };
  try {
    await run(scene);
  } finally {
    subject.thaw();
    await Promise.all(connections.map((connection) => connection.close()));
  }
};
