import { expect, it } from 'vitest';
import { idempotencyKey } from './idempotency.ts';

it('Law 7: the key depends on owner, source and content, and on nothing else', () => {
  const keys = [
    idempotencyKey('o', 's', 'c'),
    idempotencyKey('o', 's'),
    idempotencyKey('o', 's', ''),
    idempotencyKey('o', 't', 'c'),
    idempotencyKey('p', 's', 'c'),
    idempotencyKey('os', '', 'c'),
    idempotencyKey('o', 3),
    idempotencyKey('o', '3'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(idempotencyKey('o', 's', 'c')).toBe(keys[0]);
});

it('Law 11: the key is the same in any process, so its form is fixed for ever', () => {
  expect(idempotencyKey('mystack-7f/enrollment/nfs', 'h3', 'abc')).toBe('ix7ph4kukl3qsinrvj7wzp3oij');
});
