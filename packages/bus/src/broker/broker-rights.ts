/** What a user of the users file may do. */
export type BrokerRole = 'read-only' | 'full';

/** Who a client of the embedded broker is: somebody on the UNIX socket, nobody in particular, or a user with a password. */
export type Principal =
  | { readonly kind: 'local' }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly name: string; readonly role: BrokerRole };

/** What one may do (DESIGN §3). Everybody may subscribe to anything; what arrives is decided message by message. */
export interface Rights {
  readonly mayPublish: (topic: string) => boolean;
  readonly mayReceive: (topic: string) => boolean;
}

/** The broker's own topics, which nobody writes. aedes has more below `$SYS`, for brokers among themselves: nobody reads those. */
const systemTopics = '$SYS/';
const publishedSystemTopics = '$SYS/broker/';
const readableFamilies = ['plugins', 'events', 'state', 'members'] as const;

/** Whether somebody may only look: nothing of theirs is published, and no session of theirs outlives its connection. */
export const isGuest = (principal: Principal): boolean =>
  principal.kind === 'anonymous' || (principal.kind === 'user' && principal.role === 'read-only');

/** The rights of DESIGN §3 on a broker whose stack has this topic prefix. */
export const brokerRights = (prefix: string): ((principal: Principal) => Rights) => {
  const readable = readableFamilies.map((family) => `${prefix}/${family}/`);
  const guest: Rights = {
    mayPublish: () => false,
    mayReceive: (topic) => readable.some((family) => topic.startsWith(family)),
  };
  const full: Rights = {
    mayPublish: (topic) => !topic.startsWith(systemTopics) && topic !== '$SYS',
    mayReceive: (topic) => !topic.startsWith(systemTopics) || topic.startsWith(publishedSystemTopics),
  };
  return (principal) => (isGuest(principal) ? guest : full);
};
