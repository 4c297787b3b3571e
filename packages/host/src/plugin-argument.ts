import { AppError } from '@infrakit/core';
import { npmPrefix } from './npm-plugin.ts';

/** A plugin to start, as asked for: the kind, and the lookup name it gets. */
export interface PluginRequest {
  readonly kind: string;
  readonly name: string;
}

const invalid = (text: string, why: string): AppError =>
  new AppError('ARGUMENT_INVALID', `${JSON.stringify(text)} is no plugin to start: ${why}`, {
    facts: { argument: text },
  });

/**
 * `kind[:name]` (GP §4.4), where the kind may be a package, `npm:<package>`; the name is the kind when left out. The old suffix `=inproc` says what is so anyway. The name
 * is undefined where none was given, for the kind may be an alias. Errors: `ARGUMENT_INVALID`.
 */
export const parsePluginArgument = (text: string): { readonly kind: string; readonly name: string | undefined } => {
  const [rest = '', exec, ...more] = text.split('=');
  if (more.length > 0 || (exec !== undefined && exec !== 'inproc')) {
    throw invalid(text, 'all plugins run in the process that starts them; write kind or kind:name');
  }
  const colon = rest.indexOf(':', rest.startsWith(npmPrefix) ? npmPrefix.length : 0);
  const kind = colon < 0 ? rest : rest.slice(0, colon);
  const name = colon < 0 ? undefined : rest.slice(colon + 1);
  if (kind === '' || kind === npmPrefix) throw invalid(text, 'the kind is empty; write kind or kind:name');
  if (name === '') throw invalid(text, 'the name after ":" is empty');
  if (name?.includes('/')) throw invalid(text, 'a name has no "/": that is what separates it from its objects');
  return { kind, name };
};

/** Refuses two plugins of one name. Errors: `ARGUMENT_INVALID`. */
export const checkNames = (requests: readonly PluginRequest[]): void => {
  const seen = new Set<string>();
  for (const { kind, name } of requests) {
    if (seen.has(name)) {
      throw new AppError('ARGUMENT_INVALID', `two plugins would be named ${name}: name one, as in ${kind}:other`, {
        facts: { name },
      });
    }
    seen.add(name);
  }
};
