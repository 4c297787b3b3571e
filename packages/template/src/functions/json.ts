import { FunctionFailure } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn } from '../signature.ts';
import { decodeJson } from './json-decode.ts';
import { encodeJson, encodeJsonIndent } from './json-encode.ts';

/** sprig's plain variants give nothing where the `must` variants fail. */
const orElse = <T>(fallback: T, attempt: () => T): T => {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof FunctionFailure) {
      return fallback;
    }
    throw error;
  }
};

const pretty = (run: Run, value: unknown): string => encodeJsonIndent(value, run.budget, '', '  ');

/** sprig's JSON functions. */
export const JSON_FUNCTIONS: FunctionTable = {
  fromJson: fn(['string'], (_run, text) => orElse(null, () => decodeJson(text))),
  toJson: fn(['any'], (run, value) => orElse('', () => encodeJson(value, run.budget))),
  toPrettyJson: fn(['any'], (run, value) => orElse('', () => pretty(run, value))),
  toRawJson: fn(['any'], (run, value) => encodeJson(value, run.budget, false)),
  mustFromJson: fn(['string'], (_run, text) => decodeJson(text)),
  mustToJson: fn(['any'], (run, value) => encodeJson(value, run.budget)),
  mustToPrettyJson: fn(['any'], (run, value) => pretty(run, value)),
  mustToRawJson: fn(['any'], (run, value) => encodeJson(value, run.budget, false)),
};
