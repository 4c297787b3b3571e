import type { Key } from '@infrakit/core';
import { compile, instanceData, TemplateError, unescape as unescapeBraces } from '@infrakit/template';
import type { SourceItem } from './source-item.ts';

/** The key that an entry has by a selector; an entry without one is quarantined (Law 5). */
export type Selector = (entry: SourceItem) => Key;

const unknown = (reason: string): Key => ({ kind: 'unknown', reason });

// Printed where there is no logical ID, and where JSON says null: all such entries would be one (EI-E13).
const absences = ['<nil>', '<no value>'];

const keyOf = (text: string): Key => {
  const value = text.trim();
  if (value === '') return unknown('no value for key');
  const absence = absences.find((word) => value.includes(word));
  return absence === undefined ? { kind: 'known', value } : unknown(`no value for key: it renders to ${value}`);
};

/** The key where no selector is given: the ID. */
export const byId: Selector = ({ ID }) => ({ kind: 'known', value: ID });

/**
 * Compiles a key selector, braces escaped or not (EI §1.6, EI-E18). A key is what it renders to without blanks around it; an
 * empty one, one that says `<nil>` or `<no value>`, and an error are no key (EI-E12, EI-E13). Keys are remembered by entry,
 * which are never changed. Throws a TemplateError for a text that is no template, or that asks for a function whose answer
 * could change from one look to the next, which would make every entry anew.
 */
export const compileSelector = (text: string, field: string): Selector => {
  const template = compile(unescapeBraces(text), { name: field, deterministic: true });
  const known = new WeakMap<SourceItem, Key>();
  const render = (entry: SourceItem): Key => {
    try {
      return keyOf(template.render(instanceData(entry)));
    } catch (thrown) {
      if (thrown instanceof TemplateError) return unknown(`${field}: ${thrown.reason}`);
      throw thrown;
    }
  };
  return (entry) => {
    const before = known.get(entry);
    if (before !== undefined) return before;
    const key = render(entry);
    known.set(entry, key);
    return key;
  };
};
