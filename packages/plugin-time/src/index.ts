export * from './time-definition.ts';
