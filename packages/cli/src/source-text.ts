import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AppError } from '@infrakit/core';

/** A text and where it came from: the name that errors begin with, and the address that includes are resolved against. */
export interface SourceText {
  readonly text: string;
  readonly name: string;
  readonly url: string;
}

/** How long a resource may take to arrive, in ms. */
const fetchTimeoutMs = 10_000;

const unreadable = (name: string, why: string, cause?: unknown): AppError =>
  new AppError('SPEC_UNREADABLE', `${name} cannot be read: ${why}`, { cause });

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission is denied',
};

/** Reads an address: `str://`, `file://`, `http(s)://`; `SPEC_UNREADABLE` says why not. */
export const readAddress = async (url: string): Promise<string> => {
  if (url.startsWith('str://')) return url.slice('str://'.length);
  try {
    if (url.startsWith('file://')) return await readFile(fileURLToPath(url), 'utf8');
    if (/^https?:\/\//.test(url)) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(fetchTimeoutMs) });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      return await answer.text();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unreadable(url, reasons[code ?? ''] ?? message, error);
  }
  throw unreadable(url, 'an address starts with str://, file://, http:// or https://');
};

/** Reads what an argument names: `-` is standard input, an address, or a path from the current directory (GP §5.1). */
export const readSource = async (argument: string, stdin: () => Promise<string>): Promise<SourceText> => {
  if (argument === '-') {
    const text = await stdin();
    if (text.trim() === '') throw unreadable('standard input', 'it is empty');
    return { text, name: '<stdin>', url: pathToFileURL(`${process.cwd()}/`).href };
  }
  if (argument.includes('://')) return { text: await readAddress(argument), name: argument, url: argument };
  const path = resolve(argument);
  try {
    return { text: await readFile(path, 'utf8'), name: argument, url: pathToFileURL(path).href };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unreadable(argument, reasons[code ?? ''] ?? message, error);
  }
};
