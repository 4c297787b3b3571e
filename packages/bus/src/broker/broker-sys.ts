/** What the broker counts, in MQTT's words; messages are packets of any type, publishes only PUBLISH. */
export interface BrokerStats {
  readonly uptimeMs: number;
  readonly clientsConnected: number;
  readonly clientsMaximum: number;
  readonly messagesReceived: number;
  readonly messagesSent: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly publishesReceived: number;
  readonly publishesSent: number;
  readonly publishesDropped: number;
  readonly subscriptions: number;
  readonly retainedMessages: number;
  readonly retainedBytes: number;
  readonly sessionBytes: number;
  /** How many of what was refused, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/**
 * The counters as retained topics below `$SYS/broker`, with mosquitto's names where it has one. Refusals, which it does
 * not count, are below `$SYS/broker/refused`.
 */
export const systemTopics = (version: string, stats: BrokerStats): ReadonlyMap<string, string> => {
  const values: Readonly<Record<string, string | number>> = {
    version,
    uptime: `${Math.floor(stats.uptimeMs / 1_000)} seconds`,
    'clients/connected': stats.clientsConnected,
    'clients/maximum': stats.clientsMaximum,
    'messages/received': stats.messagesReceived,
    'messages/sent': stats.messagesSent,
    'bytes/received': stats.bytesReceived,
    'bytes/sent': stats.bytesSent,
    'publish/messages/received': stats.publishesReceived,
    'publish/messages/sent': stats.publishesSent,
    'publish/messages/dropped': stats.publishesDropped,
    'subscriptions/count': stats.subscriptions,
    'retained messages/count': stats.retainedMessages,
  };
  return new Map([
    ...Object.entries(values).map(([name, value]) => [`$SYS/broker/${name}`, String(value)] as const),
    ...Object.entries(stats.refused).map(([reason, count]) => [`$SYS/broker/refused/${reason}`, `${count}`] as const),
  ]);
};
