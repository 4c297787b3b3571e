/** A quality of service of MQTT. */
export type Qos = 0 | 1 | 2;

/** What a subscriber gets of a publish: the lower of both [MQTT-3.8.4-6]. */
export const lowerQos = (a: Qos, b: Qos): Qos => (a === 0 || b === 0 ? 0 : a === 1 || b === 1 ? 1 : 2);

/** What several wishes come to: the highest. */
export const higherQos = (a: Qos, b: Qos): Qos => (a === 2 || b === 2 ? 2 : a === 1 || b === 1 ? 1 : 0);
