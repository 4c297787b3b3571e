import { failCall } from '../errors.ts';
import { settle, wellFormed } from '../text/bytes.ts';

/** Levels that Go's decoder accepts would overflow what prints values later. */
const MAX_NESTING = 1000;

/** A number that might be too large for a float, or a text with a lone surrogate. */
const SUSPECT = /[0-9.]{300}|[eE]\+?[0-9]{3}|\\u[dD][89a-fA-F]/;

const checkNesting = (text: string): void => {
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (isInText) {
      i += char === 0x5c ? 1 : 0;
      isInText = char !== 0x22;
    } else if (char === 0x22) {
      isInText = true;
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_NESTING) {
        failCall(`JSON is nested more than ${MAX_NESTING} levels deep`);
      }
    } else if (char === 0x5d || char === 0x7d) {
      depth--;
    }
  }
};

const revive = (_key: string, value: unknown): unknown => {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return failCall('json: a number is too large for float64');
  }
  return typeof value === 'string' ? wellFormed(value) : value;
};

const complain = (text: string, error: unknown): never => {
  const reason = error instanceof Error ? error.message : String(error);
  return failCall(
    text.trim() === '' || /end of JSON input|Unterminated/i.test(reason)
      ? 'unexpected end of JSON input'
      : `invalid JSON: ${reason}`,
  );
};

/** The value of a JSON text: objects, lists, texts, floats, booleans and null. Fails where it is no JSON. */
export const decodeJson = (text: string): unknown => {
  const settled = settle(text);
  if (settled.length > MAX_NESTING) {
    checkNesting(settled);
  }
  try {
    return SUSPECT.test(settled) ? JSON.parse(settled, revive) : JSON.parse(settled);
  } catch (error) {
    return error instanceof SyntaxError
      ? complain(settled, error)
      : failCall(String(error instanceof Error ? error.message : error));
  }
};
