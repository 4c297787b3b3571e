import { expect, test } from 'vitest';
import { createPositions } from './position.ts';

test('LF, CRLF and a lone CR each end a line, and the break belongs to the line it ends', () => {
  const positionOf = createPositions('ab\nc\r\n\rd');
  const places = [0, 1, 2, 3, 4, 5, 6, 7].map((offset) => {
    const { line, column } = positionOf(offset);
    return `${line}:${column}`;
  });
  expect(places).toEqual(['1:1', '1:2', '1:3', '2:1', '2:2', '2:3', '3:1', '4:1']);
});

test('an offset outside the text gives its nearest end', () => {
  const positionOf = createPositions('a\nbc');
  expect(positionOf(-5)).toEqual({ line: 1, column: 1 });
  expect(positionOf(99)).toEqual({ line: 2, column: 3 });
  expect(createPositions('')(0)).toEqual({ line: 1, column: 1 });
});
