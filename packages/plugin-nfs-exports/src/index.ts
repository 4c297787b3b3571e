export * from './exports-definition.ts';
