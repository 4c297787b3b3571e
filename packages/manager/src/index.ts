export * from './file-leadership.ts';
export * from './file-lock.ts';
export * from './file-store.ts';
export * from './journal-file.ts';
export * from './manager-definition.ts';
