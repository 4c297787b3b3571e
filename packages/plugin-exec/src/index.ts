export type { CheckedCase } from './check-cases.ts';
export * from './check-program.ts';
export * from './exec-definition.ts';
export * from './exec-options.ts';
