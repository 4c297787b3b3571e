export * from './handshake.ts';
export * from './relay.ts';
