import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical.ts';
import { configHash } from './config-hash.ts';

const web = { Plugin: 'vanilla', Properties: { Init: ['echo one', 'echo two'], Tags: { tier: 'web' } } };

describe('configuration hash (GP §1.3)', () => {
  it.each([
    [
      'first vector',
      { Plugin: 'simulator/compute', Properties: { Note: 'hello' } },
      web,
      'im4eyzlbr7jynxmlhblykksd6qff6yh3',
    ],
    [
      'second vector',
      { Plugin: '', Properties: null },
      { Plugin: '', Properties: null },
      'z3aypkty3dxozefuvv63j7xdvckkg42o',
    ],
    [
      'third vector',
      { Plugin: 'simulator/compute', Properties: { b: [1, 2.5, { z: true }], a: 1, l: [], e: {} } },
      { Plugin: 'vanilla', Properties: { Init: ['curl -sSL http://x | sh && a < b'] } },
      'c35xsxnet2rqqpspmmjo5k53ggnmoazc',
    ],
  ])('%s', (_, instance, flavor, hash) => {
    expect(configHash(instance, flavor)).toBe(hash);
  });

  it('missing Plugin is "", missing Properties is null, other fields do not count', () => {
    const missing = { Properties: undefined, Options: { debug: true } };
    expect(configHash({}, missing)).toBe('z3aypkty3dxozefuvv63j7xdvckkg42o');
  });

  it('reordering keys at any depth does not change it, dropping a nested key does', () => {
    const instance = { Plugin: 'p', Properties: { a: { x: 1, y: 2 }, b: [{ m: 1, n: 2 }] } };
    const reordered = { Properties: { b: [{ n: 2, m: 1 }], a: { y: 2, x: 1 } }, Plugin: 'p' };
    const dropped = { Plugin: 'p', Properties: { a: { x: 1 }, b: [{ m: 1, n: 2 }] } };
    expect(configHash(reordered, web)).toBe(configHash(instance, web));
    expect(configHash(dropped, web)).not.toBe(configHash(instance, web));
  });

  it('is the same for equal properties and another for different ones', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const [a, b] = [configHash({ Properties: left }, web), configHash({ Properties: right }, web)];
        expect(a).toMatch(/^[a-z2-7]{32}$/);
        expect(a === b).toBe(canonicalJson(left) === canonicalJson(right));
        expect(configHash(web, { Properties: left }) === a).toBe(false);
      }),
    );
  });
});
