import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, makeBudget } from '../budget.ts';
import { sprint, sprintln } from './print.ts';
import { sprintf } from './printf.ts';
import { complex, int, int64, newDict, typedList } from './value.ts';

const format = (text: string, ...args: readonly unknown[]): string => sprintf(text, args, makeBudget(DEFAULT_LIMITS));

describe('Go fmt.Sprintf', () => {
  test.each<[string, readonly unknown[], string]>([
    [
      '%d|%5d|%-5d|%05d|%+d|% d',
      [int(42), int(42), int(42), int(42), int(42), int(42)],
      '42|   42|42   |00042|+42| 42',
    ],
    [
      '%x %X %#x %o %#o %O %b %c %U %#U',
      Array.from({ length: 10 }, () => int(65)),
      "41 41 0x41 101 0101 0o101 1000001 A U+0041 U+0041 'A'",
    ],
    ['%.3d|%.0d|%8.3d|%08d', [int(-7), int(0), int(-7), int(-7)], '-007||    -007|-0000007'],
    ['%d %d', [int64(2n ** 63n - 1n), int64(-(2n ** 63n))], '9223372036854775807 -9223372036854775808'],
    ['%v %g %e %f %.2f %.0f', [2.5, 2.5, 2.5, 2.5, 2.675, 0.5], '2.5 2.5 2.500000e+00 2.500000 2.67 0'],
    ['%.0f %.0f %.0f', [1.5, 2.5, 3.5], '2 2 4'],
    ['%6.2f|%-8.1f|%+.1f|%08.3f|% .1f', [2.71, 2.5, 2.5, -2.5, 2.5], '  2.71|2.5     |+2.5|-002.500| 2.5'],
    ['%g %G %#g %.3g', [1e21, 1e-7, 2.5, 123456], '1e+21 1E-07 2.50000 1.23e+05'],
    ['%x %X %b', [1.5, 1e6, 1], '0x1.8p+00 0X1.E848P+19 4503599627370496p-52'],
    ['%v %+v', [Infinity, -Infinity], '+Inf -Inf'],
    ['%s|%10s|%-6s|%.2s|%q|%x', ['web', 'web', 'web', 'web', 'web', 'web'], 'web|       web|web   |we|"web"|776562'],
    ['%q %+q %#q %#q', ['é"\n', 'é', 'a"b', 'a`b'], '"é\\"\\n" "\\u00e9" `a"b` "a`b"'],
    ['%t %v', [true, false], 'true false'],
    ['%v %s %q %d', [['a', 1, null], ['a'], ['a'], ['a']], '[a 1 <nil>] [a] ["a"] [%!d(string=a)]'],
    [
      '%#v %#v',
      [['a', null, 2.5], { b: 1, a: [] }],
      '[]interface {}{"a", interface {}(nil), 2.5} map[string]interface {}{"a":[]interface {}{}, "b":1}',
    ],
    [
      '%T %T %T %T %T %T',
      ['s', 1, int(1), [], {}, null],
      'string float64 int []interface {} map[string]interface {} <nil>',
    ],
    ['%T %T', [typedList('string', []), complex(0, 1)], '[]string complex128'],
    ['%v', [complex(1, -2)], '(1-2i)'],
    ['%d %s %t', [2.5, int(3), 'x'], '%!d(float64=2.5) %!s(int=3) %!t(string=x)'],
    ['%d', [null], '%!d(<nil>)'],
    ['%s %s', ['a'], 'a %!s(MISSING)'],
    ['%s', ['a', 'b', null], 'a%!(EXTRA string=b, <nil>)'],
    ['%d%% %z %', [int(50), int(1)], '50% %!z(int=1) %!(NOVERB)'],
    ['%[2]d %[1]d', [int(1), int(2)], '2 1'],
    ['%[3]*.[2]*[1]f', [12, int(2), int(6)], ' 12.00'],
    ['%*d|%-*d|%.*f', [int(5), int(42), int(5), int(42), int(2), 2.71], '   42|42   |2.71'],
    ['%*d', ['x', int(42)], '%!(BADWIDTH)42'],
    ['%[5]d %[x]d', [int(1)], '%!d(BADINDEX) %!d(BADINDEX)'],
  ])('%s', (text, args, expected) => {
    expect(format(text, ...args)).toBe(expected);
  });
});

describe('Go fmt.Sprint, Sprintln and %v', () => {
  const budget = makeBudget(DEFAULT_LIMITS);

  test.each<[unknown, string]>([
    [1000000, '1e+06'],
    [100000, '100000'],
    [21000000, '2.1e+07'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-0, '-0'],
    [2 ** 53, '9.007199254740992e+15'],
    [5e-324, '5e-324'],
    [null, '<nil>'],
    [[1, 'a', null, true], '[1 a <nil> true]'],
    [{ b: 1, a: 2, B: 3, a10: 4, a9: 5 }, 'map[B:3 a:2 a10:4 a9:5 b:1]'],
    [{ '\u{1f600}': 1, '\uff01': 2 }, 'map[\uff01:2 \u{1f600}:1]'],
    [newDict(), 'map[]'],
  ])('%j', (value, expected) => {
    expect(sprint([value], budget)).toBe(expected);
  });

  test('blanks stand between values of which neither is a text', () => {
    expect(sprint(['a', int(1), int(2), 'b', 'c', true, null], budget)).toBe('a1 2bctrue <nil>');
    expect(sprintln(['a', int(1), 'b'], budget)).toBe('a 1 b\n');
  });
});
