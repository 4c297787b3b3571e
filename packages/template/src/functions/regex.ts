import { RE2JS } from 're2js';
import { failCall } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn } from '../signature.ts';
import { typedList } from '../value/value.ts';

/** Longest pattern that is compiled. */
const MAX_PATTERN = 2000;

/** Largest compiled pattern, and instructions times characters that one step of the budget stands for. */
const MAX_PROGRAM = 10_000;
const WORK_PER_STEP = 20;

/** Characters behind a match, which the search for it may have looked at, that one step of the budget stands for. */
const REMAINDER_PER_STEP = 8;

type Range = readonly [number, number];

/** The ranges in the text of group 0 and the others; undefined where a group took no part. */
type Groups = readonly (Range | undefined)[];

/** A compiled pattern, or the sentence that says what is wrong with it. */
const tryCompile = (pattern: string): RE2JS | string => {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return `error parsing regexp: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const checkSize = (re2: RE2JS): RE2JS =>
  re2.programSize() > MAX_PROGRAM ? failCall('error parsing regexp: expression too large') : re2;

const checkLength = (pattern: string): string =>
  pattern.length > MAX_PATTERN ? failCall(`the regular expression is longer than ${MAX_PATTERN} characters`) : pattern;

const compile = (pattern: string): RE2JS => {
  const re2 = tryCompile(checkLength(pattern));
  return typeof re2 === 'string' ? failCall(re2) : checkSize(re2);
};

const widthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** All matches from left to right as Go finds them: an empty one right behind another match does not count. */
const findAll = (run: Run, re2: RE2JS, text: string, limit: number): Groups[] => {
  const size = re2.programSize() + 1;
  run.budget.step(Math.ceil((size * (text.length + 1)) / WORK_PER_STEP));
  const matcher = re2.matcher(text);
  const found: Groups[] = [];
  let behind = -1;
  for (let at = 0; at <= text.length && (limit < 0 || found.length < limit) && matcher.find(at); ) {
    const start = matcher.start();
    const end = matcher.end();
    run.budget.step(Math.ceil((text.length - at + 1) / REMAINDER_PER_STEP));
    if (end > start || start !== behind) {
      found.push(groupsOf(matcher));
    }
    behind = end;
    at = end > start ? end : end + widthAt(text, end);
  }
  return found;
};

const groupsOf = (matcher: ReturnType<RE2JS['matcher']>): Groups =>
  Array.from({ length: matcher.groupCount() + 1 }, (_, group) => {
    const start = matcher.start(group);
    return start < 0 ? undefined : ([start, matcher.end(group)] as const);
  });

const pick = (text: string, range: Range | undefined): string =>
  range === undefined ? '' : text.slice(range[0], range[1]);

/** Go's template of a replacement: `$1`, `$name`, `${1}`, `$$`. */
const expand = (template: string, text: string, groups: Groups, names: Record<string, number>): string =>
  template.replace(/\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu, (whole, braced?: string, bare?: string) => {
    if (whole === '$$') {
      return '$';
    }
    const name = braced ?? bare ?? '';
    const index = /^[0-9]+$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? (names[name] ?? -1) : -1;
    return pick(text, groups[index]);
  });

const replaceAll = (
  run: Run,
  pattern: string,
  text: string,
  replacement: (groups: Groups, re2: RE2JS) => string,
): string => {
  const re2 = compile(pattern);
  let out = '';
  let at = 0;
  for (const groups of findAll(run, re2, text, -1)) {
    const [start, end] = groups[0] ?? [at, at];
    const piece = replacement(groups, re2);
    run.budget.characters(piece.length + start - at);
    out += text.slice(at, start) + piece;
    at = end;
  }
  return out + text.slice(at);
};

const matches = (run: Run, re2: RE2JS, text: string): boolean => findAll(run, checkSize(re2), text, 1).length > 0;

/** A pattern that is none matches nothing. */
const isMatch = fn(['string', 'string'], (run, pattern, text) => {
  const re2 = tryCompile(checkLength(pattern));
  return typeof re2 !== 'string' && matches(run, re2, text);
});

const find = fn(['string', 'string'], (run, pattern, text) =>
  pick(text, findAll(run, compile(pattern), text, 1)[0]?.[0]),
);

const findList = fn(['string', 'string', 'int'], (run, pattern, text, limit) =>
  typedList(
    'string',
    findAll(run, compile(pattern), text, limit).map((groups) => pick(text, groups[0])),
  ),
);

const replace = fn(['string', 'string', 'string'], (run, pattern, text, template) =>
  replaceAll(run, pattern, text, (groups, re2) => expand(template, text, groups, re2.namedGroups())),
);

const replaceLiteral = fn(['string', 'string', 'string'], (run, pattern, text, literal) =>
  replaceAll(run, pattern, text, () => literal),
);

/** Go's `Regexp.Split`: an empty match at the beginning splits nothing off. */
const split = fn(['string', 'string', 'int'], (run, pattern, text, limit) => {
  const re2 = compile(pattern);
  if (limit === 0) {
    return typedList('string', []);
  }
  if (pattern !== '' && text === '') {
    return typedList('string', ['']);
  }
  const parts: string[] = [];
  let from = 0;
  let end = 0;
  for (const [whole] of findAll(run, re2, text, limit)) {
    if (limit > 0 && parts.length === limit - 1) {
      break;
    }
    end = whole?.[0] ?? 0;
    if (whole?.[1] !== 0) {
      parts.push(text.slice(from, end));
    }
    from = whole?.[1] ?? 0;
  }
  if (end !== text.length) {
    parts.push(text.slice(from));
  }
  return typedList('string', parts);
});

/** sprig's functions on regular expressions, in Go's syntax and in time linear in the text. */
export const REGEX_FUNCTIONS: FunctionTable = {
  regexMatch: isMatch,
  mustRegexMatch: fn(['string', 'string'], (run, pattern, text) => matches(run, compile(pattern), text)),
  regexFind: find,
  mustRegexFind: find,
  regexFindAll: findList,
  mustRegexFindAll: findList,
  regexReplaceAll: replace,
  mustRegexReplaceAll: replace,
  regexReplaceAllLiteral: replaceLiteral,
  mustRegexReplaceAllLiteral: replaceLiteral,
  regexSplit: split,
  mustRegexSplit: split,
  regexQuoteMeta: fn(['string'], (_run, text) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};
