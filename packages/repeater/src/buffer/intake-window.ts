/**
 * How many messages of QoS 1 and 2 a buffer takes without having acknowledged them: what is doubled at QoS 1 when the process is
 * killed. A source of MQTT 5 is asked to send no more at once; of one that does, no more are kept before the first is acknowledged.
 */
export const maxUnacknowledged = 256;
