export { ContainerProperties } from './container-properties.ts';
export * from './docker-definition.ts';
