import { AppError, type ErrorCode } from '@infrakit/core';
import type { z } from 'zod';
import { decode } from './decode.ts';
import { type Document, readDocument } from './document.ts';
import type { Problem } from './problem.ts';

/** What is wrong with a part of a spec, one sentence a fault; the path is not repeated where the sentence names the field. */
const sentenceOf = (part: string, { path, message }: Problem): string => {
  const field = /[^.[\]]*$/.exec(path)?.[0] ?? '';
  if (field !== '' && message.startsWith(field)) return message;
  const full = [part, path].filter((piece) => piece !== '').join(path.startsWith('[') ? '' : '.');
  return full === '' ? message : `${full}: ${message}`;
};

const problemsOf = (error: AppError): readonly Problem[] => (error.facts.problems ?? []) as readonly Problem[];

/** A value, or every fault of it as sentences. */
export type Part<T> =
  | { readonly value: T; readonly faults: readonly [] }
  | { readonly value: undefined; readonly faults: readonly string[] };

/**
 * Decodes a part of a committed spec, which is JSON by now and has no lines: fields match in any case, unknown ones are
 * faults that name the nearest known one, all faults come at once (EI §0.1, DESIGN §5). `part` begins each path.
 */
export const decodePart = <S extends z.ZodType>(part: string, value: unknown, schema: S): Part<z.output<S>> => {
  try {
    const text = JSON.stringify(value);
    const limits = { bytes: 4 * Buffer.byteLength(text) };
    const document: Document = readDocument(text, { file: part, format: 'json', limits });
    return { value: decode(document, schema).value, faults: [] };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const problems = problemsOf(thrown);
    return {
      value: undefined,
      faults: problems.length === 0 ? [thrown.message] : problems.map((one) => sentenceOf(part, one)),
    };
  }
};

/** The properties of a plugin by its schema; an error of this code names every fault at once. */
export const parseProperties = <S extends z.ZodType>(code: ErrorCode, schema: S, properties: unknown): z.output<S> => {
  const { value, faults } = decodePart('', properties ?? {}, schema);
  if (value === undefined) throw new AppError(code, faults.join('; '), { facts: { faults } });
  return value;
};
