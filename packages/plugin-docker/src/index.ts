export * from './docker-definition.ts';
