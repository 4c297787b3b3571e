import { describe, expect, test } from 'vitest';
import { byteLength, byteSlice, compareText, fromBytes, runeCount, settle, toBytes } from './bytes.ts';
import { atoi, parseFloat64, parseInt0, parseInt10 } from './number.ts';
import { quote, unquote } from './quote.ts';
import { titleRune, toLower, toUpper } from './unicode.ts';

describe('texts are bytes', () => {
  test('lengths are counted in bytes, characters in runes', () => {
    expect([byteLength('abc'), byteLength('größe'), byteLength('日本'), byteLength('😀')]).toEqual([3, 7, 6, 4]);
    expect([runeCount('größe'), runeCount('😀')]).toEqual([5, 1]);
  });

  test('the halves of a cut character become the character again', () => {
    const [a, b] = [byteSlice('日本', 0, 4), byteSlice('日本', 4, 6)];
    expect([byteLength(a), byteLength(b)]).toEqual([4, 2]);
    expect(settle(a)).toBe('日\ufffd');
    expect(settle(a + b)).toBe('日本');
  });

  test('bytes that are no UTF-8 survive', () => {
    const bytes = Uint8Array.from([0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f, 0x98, 0x80]);
    expect([...toBytes(fromBytes(bytes))]).toEqual([...bytes]);
    expect(settle(fromBytes(bytes))).toBe('a\ufffd\ufffd(\ufffd\ufffd\ufffd😀');
  });

  test('order is that of the bytes', () => {
    expect(['\u{1f600}', '\uff01', 'a', 'Z', 'é', ''].sort(compareText)).toEqual([
      '',
      'Z',
      'a',
      'é',
      '\uff01',
      '\u{1f600}',
    ]);
  });
});

describe('case changes are those of single characters', () => {
  test.each([
    ['İi', 'İI', 'ii'],
    ['ΑΣ', 'ΑΣ', 'ασ'],
    ['ßŉﬁ', 'ßŉﬁ', 'ßŉﬁ'],
    ['ᾳ', 'ᾼ', 'ᾳ'],
  ])('%s', (text, upper, lower) => {
    expect([toUpper(text), toLower(text)]).toEqual([upper, lower]);
  });

  test('digraphs have a title case of their own', () => {
    expect(['ǆ', 'ა', 'a'].map(titleRune)).toEqual(['ǅ', 'ა', 'A']);
  });
});

describe('Go strconv', () => {
  test.each([
    ['"a\\tb"', 'a\tb'],
    ['"\\x41\\101\\u00e9\\U0001F600"', 'AAé😀'],
    ['"\\xc3\\xa9"', 'é'],
    ['`a\\n\r\nb`', 'a\\n\nb'],
    ['"\\z"', undefined],
    ['"\\\'"', undefined],
    ['"\\x4"', undefined],
    ['"\\ud800"', undefined],
    ['"\\400"', undefined],
  ])('unquotes %s', (literal, expected) => {
    expect(unquote(literal)).toBe(expected);
  });

  test.each([
    ['say "hi"\n', '"say \\"hi\\"\\n"', '"say \\"hi\\"\\n"'],
    ['é\u0001\u007f\u00a0', '"é\\x01\\x7f\\u00a0"', '"\\u00e9\\x01\\x7f\\u00a0"'],
    ['😀\\', '"😀\\\\"', '"\\U0001f600\\\\"'],
  ])('quotes %j', (text, quoted, ascii) => {
    expect([quote(text), quote(text, true)]).toEqual([quoted, ascii]);
  });

  test.each([
    ['0x1F', 31n],
    ['-0x10', -16n],
    ['017', 15n],
    ['0o17', 15n],
    ['0b101', 5n],
    ['1_000', 1000n],
    ['0x_1', 1n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', undefined],
    ['08', undefined],
    ['1__0', undefined],
    ['1_', undefined],
    ['', undefined],
    [' 1', undefined],
  ])('reads %s with the base of its prefix', (text, expected) => {
    expect(parseInt0(text)).toBe(expected);
  });

  test('reads base 10', () => {
    expect(['010', '+7', '-7', '0x10', '1.0', ''].map(parseInt10)).toEqual([
      10n,
      7n,
      -7n,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('reads floats', () => {
    expect(
      ['1.5', '.5', '1.', '1e3', '0x1p4', '0x1.8p1', '1_0.5', 'inf', '1e999', 'x', '0x1'].map(parseFloat64),
    ).toEqual([1.5, 0.5, 1, 1000, 16, 3, 10.5, Infinity, undefined, undefined, undefined]);
  });

  test('atoi gives the nearest int64', () => {
    expect(['12', '-3', 'x', '3.5', '99999999999999999999', '-99999999999999999999x'].map(atoi)).toEqual([
      12n,
      -3n,
      0n,
      0n,
      2n ** 63n - 1n,
      -(2n ** 63n),
    ]);
  });
});
