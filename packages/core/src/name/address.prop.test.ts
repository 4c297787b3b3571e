import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressOf, objectName, resolveObject } from './address.ts';
import { parsePluginName } from './plugin-name.ts';

const segment = fc.string({ minLength: 1, unit: fc.constantFrom('a', 'b', '-', '.', ' ', 'é') });

it('a spec is found at its own address: the endpoint resolves to its instance (GP §0.2, EI §2.4)', () => {
  fc.assert(
    fc.property(segment, segment, fc.option(segment), (kind, name, lookup) => {
      const full = lookup === null ? name : `${lookup}/${name}`;
      const { endpoint, instance } = addressOf({ kind, metadata: { name: full } });
      expect(parsePluginName(endpoint).lookup).toBe(lookup ?? kind);
      expect(resolveObject(endpoint, new Set(['', instance]))).toBe(instance);
    }),
  );
});

it('both spellings of a rule name are one rule (EI §2.4 [WANT])', () => {
  fc.assert(
    fc.property(segment, segment, (lookup, name) => {
      expect(objectName(lookup, `${lookup}/${name}`)).toBe(objectName(lookup, name));
    }),
  );
});
