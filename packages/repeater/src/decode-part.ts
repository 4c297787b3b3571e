import { AppError } from '@infrakit/core';
import { decode, type Problem, readDocument } from '@infrakit/document';
import type { z } from 'zod';

/** A value, or every fault of it as sentences. */
export type Part<T> =
  | { readonly value: T; readonly faults: readonly [] }
  | { readonly value: undefined; readonly faults: readonly string[] };

/**
 * Decodes a part of a committed spec, which is JSON by now and has no lines: fields match in any case, unknown ones are
 * faults that name the nearest known one, all faults come at once (DESIGN §5). `part` begins each path.
 */
export const decodePart = <S extends z.ZodType>(part: string, value: unknown, schema: S): Part<z.output<S>> => {
  try {
    const text = JSON.stringify(value);
    const limits = { bytes: 4 * Buffer.byteLength(text) };
    return { value: decode(readDocument(text, { file: part, format: 'json', limits }), schema).value, faults: [] };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const problems = (thrown.facts.problems ?? []) as readonly Problem[];
    const faults = problems.map(({ path, message }) => `${path === '' ? part : `${part}.${path}`}: ${message}`);
    return { value: undefined, faults: faults.length === 0 ? [thrown.message] : faults };
  }
};
