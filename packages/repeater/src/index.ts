export * from './event-repeater-app.ts';
export { Mirror, MirrorBuffer, MirrorSink, MirrorSource } from './mirror/mirror.ts';
export { type MirrorLimits, type Mirrors, type MirrorsDeps, openMirrors } from './mirror/mirrors.ts';
export { repeaterDefinition } from './repeater-definition.ts';
export { type MirrorReport, rankTag } from './topic-instances.ts';
