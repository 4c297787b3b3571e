import { failCall } from '../errors.ts';
import { trimSpace } from '../text/unicode.ts';
import { type Dict, getKey, isDict, newDict, setKey } from '../value/value.ts';

const ASSIGNMENT = /^([^=]+)=(.*)$/;
const SECTION = /^\[(.*)\]$/;

const sectionOf = (file: Dict, name: string): Dict => {
  const known = getKey(file, name);
  if (isDict(known)) {
    return known;
  }
  const section = newDict();
  setKey(file, name, section);
  return section;
};

/** INI text as a map of sections; keys before the first section stand in the section of the empty name. */
export const decodeIni = (text: string): Dict => {
  const file = newDict();
  let section = '';
  text.split('\n').forEach((raw, i) => {
    const line = trimSpace(raw);
    if (line === '' || line.startsWith(';') || line.startsWith('#')) {
      return;
    }
    const [, key, value] = ASSIGNMENT.exec(line) ?? [];
    const [, name] = SECTION.exec(line) ?? [];
    if (key !== undefined && value !== undefined) {
      setKey(sectionOf(file, section), trimSpace(key), trimSpace(value));
    } else if (name !== undefined) {
      section = trimSpace(name);
      sectionOf(file, section);
    } else {
      failCall(`invalid INI syntax on line ${i + 1}: ${line}`);
    }
  });
  return file;
};
