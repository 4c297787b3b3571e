export { ExportProperties } from './export-properties.ts';
export * from './exports-definition.ts';
