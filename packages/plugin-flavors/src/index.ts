export * from './flavor-definitions.ts';
