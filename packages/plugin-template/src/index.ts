export { notesDefinition as default } from './notes-definition.ts';
