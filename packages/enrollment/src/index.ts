export { enrollmentDefinition } from './enrollment-definition.ts';
export { startEnrollment } from './enrollment-plugin.ts';
