export * from './tailer-definition.ts';
