export * from './simulator-definition.ts';
