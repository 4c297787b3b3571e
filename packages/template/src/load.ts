import { literalText, resolveAddress } from './address.ts';
import { failCall, Suspended } from './errors.ts';
import type { LoadRequest } from './host.ts';
import type { Run } from './run.ts';

/**
 * A result that may have to be waited for: what an earlier attempt waited for is at hand, anything else that is a promise
 * suspends the rendering.
 */
export const settledOr = (run: Run, key: () => string, start: () => unknown): unknown => {
  const { settled } = run.host;
  const outcome = settled === undefined || settled.size === 0 ? undefined : settled.get(key());
  if (outcome !== undefined) {
    if ('error' in outcome) {
      throw outcome.error;
    }
    return outcome.value;
  }
  const result = start();
  if (result instanceof Promise) {
    throw new Suspended(key(), result);
  }
  return result;
};

/** A resource as text. */
export interface Loaded {
  readonly text: string;
  /** Where it came from; for `str://` the address of the template that asks. */
  readonly url: string;
  readonly isLiteral: boolean;
}

/** Reads the resource at an address of the language: `str://` is the text itself, everything else goes to the loader. */
export const load = (run: Run, via: LoadRequest['via'], address: string, headers: LoadRequest['headers']): Loaded => {
  const literal = literalText(address);
  if (literal !== undefined) {
    return { text: literal, url: run.program.url, isLiteral: true };
  }
  const { loader } = run.host;
  const url = resolveAddress(run.program.url, address);
  if (loader === undefined) {
    return failCall(`${url} cannot be read here: only str:// can`);
  }
  const request: LoadRequest = { url, via, headers };
  const text = settledOr(
    run,
    () => JSON.stringify(request),
    () => loader(request),
  );
  if (typeof text !== 'string') {
    return failCall(`the loader gave no text for ${url}`);
  }
  run.budget.characters(text.length);
  return { text, url, isLiteral: false };
};
