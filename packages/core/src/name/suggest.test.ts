import { expect, it } from 'vitest';
import { suggest } from './suggest.ts';

const verbs = ['commit', 'describe', 'destroy', 'free', 'inspect', 'scale', 'ls'];

it.each([
  ['comit', 'commit'],
  ['describ', 'describe'],
  ['destory', 'destroy'],
  ['Scale', 'scale'],
  ['scael', 'scale'],
  ['sl', 'ls'],
  ['l', 'ls'],
  ['xyz', undefined],
  ['', undefined],
  ['completely-different', undefined],
  ['fre', 'free'],
])('%j probably means %s (DESIGN §6)', (name, meant) => {
  expect(suggest(name, verbs)).toBe(meant);
});

it('an exact name wins over a near one, of equally near ones the first', () => {
  expect(suggest('sizes', ['size', 'sizes'])).toBe('sizes');
  expect(suggest('cat', ['bat', 'hat'])).toBe('bat');
});
