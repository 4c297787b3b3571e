import { failCall } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn } from '../signature.ts';

const variable = (run: Run, name: string): string => {
  if (run.host.env === undefined) {
    return failCall('environment variables cannot be read here');
  }
  return run.host.env(name) ?? '';
};

const REFERENCE = /\$(?:\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*|[*#$@!?\-0-9]))/g;

/** sprig's functions on the environment, which the host gives. */
export const ENVIRONMENT_FUNCTIONS: FunctionTable = {
  env: fn(['string'], variable),
  expandenv: fn(['string'], (run, text) => {
    const expanded = text.replace(REFERENCE, (_whole, braced?: string, bare?: string) =>
      variable(run, braced ?? bare ?? ''),
    );
    run.budget.characters(expanded.length);
    return expanded;
  }),
};
