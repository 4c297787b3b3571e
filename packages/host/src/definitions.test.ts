import { describe, expect, it } from 'vitest';
import { builtInKinds, findKind } from './definitions.ts';

describe('built-in kinds', () => {
  it.each(builtInKinds.map((each) => [each.kind, each] as const))(
    '%s: what is known before its package is loaded is what the package says',
    async (kind, { aliases, load }) => {
      const definition = await load();
      expect({ kind: definition.kind, aliases: definition.aliases ?? [] }).toEqual({ kind, aliases });
    },
  );

  it('group goes by its old name too (DESIGN §3)', () => {
    expect(findKind('group-stateless').kind).toBe('group');
  });

  it.each([
    ['simulater', 'there is no kind of plugin named "simulater"; did you mean simulator?'],
    ['zebra', `there is no kind of plugin named "zebra"; known are ${builtInKinds.map(({ kind }) => kind).join(', ')}`],
  ])('GP-L1: %s is one sentence', (name, message) => {
    expect(() => findKind(name)).toThrow(expect.objectContaining({ code: 'PLUGIN_KIND_UNKNOWN', message }));
  });
});
