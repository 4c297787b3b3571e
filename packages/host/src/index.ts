export * from './broker-choice.ts';
export * from './broker-json.ts';
export * from './definitions.ts';
export * from './host.ts';
export * from './main.ts';
export * from './plugin-argument.ts';
export * from './process-control.ts';
export * from './settings.ts';
