import { filterIndex } from '@infrakit/core';
import { higherQos, type Qos } from '../connection/qos.ts';

/** Which clients of a broker get a message. */
export interface ClientRoutes<Client> {
  /** The client's interest in a filter, at most so much of it; the result forgets it. Errors: `FILTER_INVALID`. */
  readonly add: (client: Client, filter: string, qos: Qos) => () => void;
  /** Each client once, with the highest QoS among its filters that match [MQTT-3.3.5-1]. */
  readonly match: (topic: string) => ReadonlyMap<Client, Qos>;
}

/** No interest yet. */
export const clientRoutes = <Client>(): ClientRoutes<Client> => {
  const routes = filterIndex<{ readonly client: Client; readonly qos: Qos }>();
  return {
    add: (client, filter, qos) => routes.add(filter, { client, qos }),
    match: (topic) => {
      const granted = new Map<Client, Qos>();
      for (const { client, qos } of routes.match(topic)) granted.set(client, higherQos(qos, granted.get(client) ?? 0));
      return granted;
    },
  };
};
