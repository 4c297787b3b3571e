import type { CallContext } from '@infrakit/spi';

/** The version of the protocol, in each request. */
const protocol = 1;

const longestVariable = 16 * 1024;

/** What a program reads on its stdin: one line of JSON. */
export const requestLine = (
  verb: string,
  params: unknown,
  { timeoutMs, idempotencyKey, fencing, trace }: CallContext,
) => `${JSON.stringify({ protocol, verb, params, context: { timeoutMs, idempotencyKey, fencing, trace } })}\n`;

/** The short facts of a request as variables, for programs that read no JSON. What cannot be one is left out. */
export const requestVariables = (
  id: string | undefined,
  { idempotencyKey, fencing }: CallContext,
  stateDir: string | null,
): Record<string, string> => {
  const facts = {
    INFRAKIT_ID: id,
    INFRAKIT_IDEMPOTENCY_KEY: idempotencyKey,
    INFRAKIT_TERM: fencing?.term.toString(),
    INFRAKIT_TERM_SCOPE: fencing?.scope,
    INFRAKIT_STATE_DIR: stateDir ?? undefined,
  };
  const fits = (value: string | undefined): value is string =>
    value !== undefined && value.length <= longestVariable && !value.includes('\0');
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts)) if (fits(value)) variables[name] = value;
  return variables;
};
