import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AppError, type InstanceSpec, type MemberIndex } from '@infrakit/core';
import { compile, TemplateError } from '@infrakit/template';

/** A script rendered from a template; fetched again at most this often (GP-F4). */
const freshMs = 30_000;

/** Where init scripts come from. */
export interface InitScripts {
  /** The script for one member. `FLAVOR_INVALID` when the template cannot be fetched or rendered. */
  readonly render: (
    url: string,
    member: { readonly spec: InstanceSpec; readonly index: MemberIndex },
    signal: AbortSignal,
  ) => Promise<string>;
  /** Fetches and compiles, without rendering. */
  readonly check: (url: string, signal: AbortSignal) => Promise<void>;
}

const fetchText = async (url: string, signal: AbortSignal): Promise<string> => {
  if (url.startsWith('str://')) return url.slice('str://'.length);
  if (url.startsWith('file://')) return readFile(fileURLToPath(url), { encoding: 'utf8', signal });
  if (!/^https?:\/\//.test(url)) throw new Error('an address starts with str://, file://, http:// or https://');
  const answer = await fetch(url, { signal });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.text();
};

/** Init scripts by address, each kept for a while; one that can no longer be fetched is used as it was (GP-F4). */
export const initScripts = (nowMs: () => number): InitScripts => {
  const known = new Map<string, { readonly text: string; readonly atMs: number }>();

  const textOf = async (url: string, signal: AbortSignal): Promise<string> => {
    const before = known.get(url);
    if (before !== undefined && nowMs() - before.atMs < freshMs) return before.text;
    try {
      const text = await fetchText(url, signal);
      known.set(url, { text, atMs: nowMs() });
      return text;
    } catch (error) {
      if (before !== undefined) return before.text;
      const why = error instanceof Error ? error.message : String(error);
      throw new AppError('FLAVOR_INVALID', `the init script ${url} cannot be fetched: ${why}`, { cause: error });
    }
  };

  const templateOf = async (url: string, signal: AbortSignal) => {
    const text = await textOf(url, signal);
    const loader = (request: { readonly url: string }): Promise<string> => fetchText(request.url, signal);
    return guarded(url, async () => compile(text, { multiPass: true, loader }));
  };

  const guarded = async <T>(url: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw new AppError('FLAVOR_INVALID', `the init script ${url} does not render: ${error.message}`, {
        cause: error,
      });
    }
  };

  return {
    check: async (url, signal) => {
      await templateOf(url, signal);
    },
    render: async (url, { spec, index }, signal) => {
      const template = await templateOf(url, signal);
      const data = { ...spec, Index: index };
      return guarded(url, () => template.renderAsync(data));
    },
  };
};
