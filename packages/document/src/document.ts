import { AppError } from '@infrakit/core';
import type { Flaw, Parsed } from './flaw.ts';
import { parseJson } from './json.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { follow, type Located, type ValuePath } from './located.ts';
import { createPositions, type Position } from './position.ts';
import { createProblem, type Problem, problemsError } from './problem.ts';
import { type Render, type Rendered, renderText } from './render.ts';
import { parseYaml } from './yaml.ts';

/** One document of a text. Offsets in `root` are of the rendered text; `positionOf` gives the line of the source. */
export interface Document {
  readonly file: string;
  /** Counts from 0 within its text. */
  readonly index: number;
  readonly root: Located;
  readonly positionOf: (offset: number) => Position;
}

/** `auto` reads JSON where the text is one JSON list or map, and YAML otherwise: in YAML 1.1 `1e5` is text. */
export type Format = 'auto' | 'yaml' | 'json';

export interface ReadOptions {
  /** The name that errors begin with. */
  readonly file: string;
  readonly format?: Format;
  readonly render?: Render;
  readonly limits?: Partial<Limits>;
}

const parse = (text: string, { file, format = 'auto' }: ReadOptions, limits: Limits): Parsed => {
  if (format === 'json') return parseJson(text, limits);
  const looksLikeJson = format === 'auto' && /^\s*[{[]/.test(text);
  const json = looksLikeJson ? parseJson(text, limits) : undefined;
  if (json?.flaws.length === 0) return json;
  const yaml = parseYaml(text, limits);
  return json !== undefined && yaml.flaws.length > 0 && /\.json$/i.test(file) ? json : yaml;
};

const emptyFlaws = ({ roots }: Parsed): Flaw[] => {
  if (roots.length === 0) return [{ offset: 0, message: 'there is no document in this text: write a spec' }];
  return roots.flatMap((root, index) => {
    const isEmpty = root.kind === 'scalar' && root.raw === '';
    const message = `document ${index + 1} is empty: write it, or remove its \`---\``;
    return isEmpty ? [{ offset: root.offset, message }] : [];
  });
};

const countFlaws = ({ roots }: Parsed, limit: number): Flaw[] => {
  const extra = roots[limit];
  const message = `${roots.length} documents in one text, at most ${limit} are read: split it`;
  return extra === undefined ? [] : [{ offset: extra.offset, message, isLimit: true }];
};

const toProblem = (flaw: Flaw, file: string, positionOf: Rendered['positionOf']): Problem => {
  const first = flaw.first === undefined ? '' : ` (first at line ${positionOf(flaw.first).line})`;
  return createProblem(file, positionOf(flaw.offset), '', `${flaw.message}${first}`);
};

const checkSize = (text: string, file: string, limit: number, what: string): void => {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return;
  const message = `${what} has ${bytes} bytes, at most ${limit} are read: split it`;
  throw problemsError('SPEC_TOO_LARGE', [createProblem(file, { line: 1, column: 1 }, '', message)]);
};

/**
 * Reads all documents of a text: renders it, then parses YAML 1.1 or JSON. Accepts a byte order mark and any line ends.
 * Errors name every problem found (`facts.problems`): `SPEC_TEMPLATE` when rendering fails, `SPEC_TOO_LARGE` when nothing
 * but limits are passed, else `SPEC_UNREADABLE`. (EI §0.1, GP §5.2, DESIGN §5)
 */
export const readDocuments = (text: string, options: ReadOptions): readonly Document[] => {
  const { file } = options;
  const limits = { ...defaultLimits, ...options.limits };
  checkSize(text, file, limits.bytes, 'the text');
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const rendered: Rendered = options.render
    ? renderText(source, file, options.render)
    : { text: source, positionOf: createPositions(source) };
  checkSize(rendered.text, file, limits.bytes, 'the rendered text');
  const { positionOf } = rendered;
  const parsed: Parsed = rendered.text.trim() === '' ? { roots: [], flaws: [] } : parse(rendered.text, options, limits);
  const flaws =
    parsed.flaws.length > 0 ? parsed.flaws : [...emptyFlaws(parsed), ...countFlaws(parsed, limits.documents)];
  if (flaws.length > 0) {
    const code = flaws.every((flaw) => flaw.isLimit === true) ? 'SPEC_TOO_LARGE' : 'SPEC_UNREADABLE';
    throw problemsError(
      code,
      flaws.map((flaw) => toProblem(flaw, file, positionOf)),
    );
  }
  return parsed.roots.map((root, index) => ({ file, index, root, positionOf }));
};

/** Reads a text that must hold exactly one document; more are `SPEC_UNREADABLE`. */
export const readDocument = (text: string, options: ReadOptions): Document => {
  const [first, second] = readDocuments(text, options);
  if (first === undefined) throw new AppError('INTERNAL', 'a text was read into no document');
  if (second === undefined) return first;
  const message = 'a second document begins here, only one is expected: split the file';
  const position = second.positionOf(second.root.offset);
  throw problemsError('SPEC_UNREADABLE', [createProblem(options.file, position, '', message)]);
};

/**
 * Where a path of a document was written, in the source: its value, or the key of its nearest parent when it is missing.
 * Keys match exactly first, then in any case.
 */
export const locate = (document: Document, path: ValuePath): Position =>
  document.positionOf(follow(document.root, path).offset);
