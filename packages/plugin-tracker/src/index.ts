export * from './tracker-definition.ts';
