import { describe, expect, test } from 'vitest';
import { instanceData } from './instance-data.ts';
import { compile } from './template.ts';

describe('the address of an instance', () => {
  test('is seen where there is one', () => {
    expect(compile('{{ .Address }}').render(instanceData({ ID: 'a', Address: '10.0.0.5' }))).toBe('10.0.0.5');
  });

  test('is an error where there is none: nothing is made for an empty address (EI §1.6)', () => {
    expect(() => compile('{{ .Address }}').render(instanceData({ ID: 'a' }))).toThrow('Address');
  });
});
