import type { EmbeddedBroker, ListenAddress, MqttVersion, TlsMaterial } from '@infrakit/bus';
import type { BrokerAddress } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import type { Home } from './home.ts';
import type { ExternalBroker } from './settings.ts';
import type { WaitDeps } from './waiting.ts';

/** Which broker a host is to use. */
export interface BrokerOptions {
  readonly home: Home | null;
  /** One that is there already; else the home's live one is joined, else an embedded one is started. */
  readonly external: ExternalBroker | undefined;
  readonly listen: ListenAddress;
  readonly prefix: string | undefined;
  readonly usersFile: string | undefined;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly timeoutMs: number;
  readonly pid: number;
}

export interface BrokerDeps extends WaitDeps {
  readonly log: Log;
}

/** The broker that a host uses. */
export interface ChosenBroker {
  readonly kind: 'embedded' | 'joined' | 'external';
  readonly address: BrokerAddress;
  readonly tls: TlsMaterial;
  /** Only this version of MQTT, where it is known what the broker speaks. */
  readonly version?: MqttVersion;
  /** For people and other clients: `mqtt://127.0.0.1:1883`; null when it has no such address. */
  readonly url: string | null;
  readonly prefix: string;
  /** The broker, where it is in this process: what passes between them needs no socket. */
  readonly inProcess?: EmbeddedBroker;
  /** Ends what was started for it. `isLast`: no other process is on the bus. */
  readonly stop: (isLast: boolean) => Promise<void>;
}
