import type { AedesOptions, Client, ConnectPacket } from 'aedes';
import type { ClientBook, ClientState, Door } from './broker-client-state.ts';
import { isLegalTopic } from './broker-legal.ts';
import type { Refusal } from './broker-limits.ts';
import { isGuest, type Principal } from './broker-rights.ts';
import type { BrokerUsers } from './broker-users.ts';

// [MQTT-3.2.2.3]: connect return codes.
const returnCodes = { identifier: 2, unavailable: 3, credentials: 4, forbidden: 5 } as const;

/** Ids of one principal never meet those of another: nobody takes over, or wipes, a session that is not theirs [MQTT-3.1.4-2]. */
const sessionOwner = (door: Door, username: string | undefined): string => {
  if (door === 'socket') return '';
  return username === undefined ? 'anonymous/' : `user/${encodeURIComponent(username)}/`;
};

/** Makes the session end with its connection: a guest's would queue messages for somebody who may never come back. */
const makeClean = (client: Client, connect: ConnectPacket | undefined): void => {
  if (connect !== undefined) connect.clean = true;
  Reflect.set(client, 'clean', true);
};

/** Who may connect, and as whom: the answers to CONNECT. Without `users`, everybody on TCP is anonymous. */
export const brokerAdmission = (
  book: ClientBook,
  users: BrokerUsers | undefined,
): Pick<AedesOptions, 'preConnect' | 'authenticate'> => {
  const { limits } = book;
  let passwordChecks = 0;

  const principalFor = async (
    state: ClientState,
    username: string | undefined,
    password: Uint8Array | undefined,
  ): Promise<Principal | 'busy' | undefined> => {
    if (state.door === 'socket') return { kind: 'local' };
    if (users === undefined) return { kind: 'anonymous' };
    if (username === undefined || password === undefined) return undefined;
    if (passwordChecks >= limits.passwordChecks) return 'busy';
    passwordChecks += 1;
    try {
      const role = await users.check(username, password);
      return role === undefined ? undefined : { kind: 'user', name: username, role };
    } finally {
      passwordChecks -= 1;
    }
  };

  return {
    preConnect: (client, packet, done) => {
      const state = book.find(client);
      if (state === undefined) return done(new Error('unknown connection'), false);
      if (packet.clientId === '' && packet.clean === false)
        state.connectFault = 'client-id'; // [MQTT-3.1.3-8]
      else if (Buffer.byteLength(packet.clientId) > limits.topicBytes) {
        state.connectFault = 'client-id';
      } else if (packet.will !== undefined && !isLegalTopic(packet.will.topic, limits.topicBytes))
        state.connectFault = 'topic';
      const owner = sessionOwner(state.door, users === undefined ? undefined : packet.username);
      if (packet.clientId !== '') packet.clientId = `${owner}${packet.clientId}`;
      state.connect = packet;
      done(null, true);
    },

    authenticate: (client, username, password, done) => {
      const state = book.find(client);
      const fault = state?.connectFault;
      const fail = (reason: Refusal, returnCode: number, facts: Readonly<Record<string, unknown>> = {}): void => {
        const error = book.refuse(reason, 'refused at CONNECT', { clientId: client.id, ...facts });
        done(Object.assign(error, { returnCode }), null);
      };
      if (state === undefined) return fail('authentication', returnCodes.forbidden);
      if (fault !== undefined) {
        return fail(fault, fault === 'client-id' ? returnCodes.identifier : returnCodes.forbidden);
      }
      principalFor(state, username, password).then(
        (principal) => {
          if (principal === 'busy') return fail('authentication', returnCodes.unavailable, { why: 'too many at once' });
          if (principal === undefined) {
            const code = username === undefined ? returnCodes.forbidden : returnCodes.credentials;
            return fail('authentication', code, { username });
          }
          if (isGuest(principal)) {
            if (state.connect?.will !== undefined)
              return fail('publish-right', returnCodes.forbidden, { why: 'a will' });
            makeClean(client, state.connect);
          }
          state.principal = principal;
          state.connect = undefined;
          done(null, true);
        },
        (error: unknown) => fail('authentication', returnCodes.unavailable, { err: error }),
      );
    },
  };
};
