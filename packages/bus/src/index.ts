export type * from './connection.ts';
