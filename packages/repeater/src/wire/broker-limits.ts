/** What a broker takes from us, as its CONNACK says in MQTT 5 [MQTT5-3.2.2.3]. */
export interface BrokerLimits {
  /** How many messages of QoS 1 and 2 at once. */
  readonly receiveMaximum: number;
  /** The largest packet, in bytes. */
  readonly maxPacketBytes: number;
  readonly maxQos: 0 | 1 | 2;
  /** Whether messages may be retained. */
  readonly isRetainAvailable: boolean;
}

/** A broker that says of none, as one of 3.1.1 cannot: as many messages as there are packet ids, as large as a packet can be. */
export const noLimits: BrokerLimits = {
  receiveMaximum: 65_535,
  maxPacketBytes: 268_435_455 + 5,
  maxQos: 2,
  isRetainAvailable: true,
};

/** Whether some message that may be sent elsewhere may not be sent so to a broker; how many at once is another matter. */
export const isNarrow = ({ maxPacketBytes, maxQos, isRetainAvailable }: BrokerLimits): boolean =>
  maxPacketBytes < noLimits.maxPacketBytes || maxQos < noLimits.maxQos || !isRetainAvailable;

/** What of a rule a broker does not allow, for people. */
export const limitNotes = (
  wish: { readonly qos: 0 | 1 | 2; readonly retains: boolean },
  { maxQos, isRetainAvailable }: BrokerLimits,
): readonly string[] => [
  ...(maxQos < wish.qos ? [`QoS ${maxQos} in the place of ${wish.qos}: the sink takes no more`] : []),
  ...(wish.retains && !isRetainAvailable ? ['nothing is retained: the sink does not allow it'] : []),
];
