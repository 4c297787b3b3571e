export * from './broker-url.ts';
export type * from './connection.ts';
export * from './connection-contract.ts';
export * from './embedded-broker.ts';
export * from './memory-broker.ts';
export * from './mqtt-connection.ts';
export type { MqttVersion } from './mqtt-link.ts';
export type { TlsMaterial } from './mqtt-stream.ts';
