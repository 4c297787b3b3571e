import { AppError, toAppError } from '@infrakit/core';
import type { CallContext } from './call-context.ts';
import { type DeadlineDeps, withDeadline } from './deadline.ts';
import { frozenCopy } from './frozen-copy.ts';
import { type InterfaceDescription, type MethodDescription, type SpiOf, wireName } from './interface.ts';

type Call = (params: unknown, ctx: CallContext) => Promise<unknown>;

const parseParams = (name: string, method: MethodDescription, params: unknown): unknown => {
  const parsed = method.params.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new AppError('PARAMS_INVALID', `${name}: ${parsed.error.issues.map(sentence).join('; ')}`);
};

const parseResult = (name: string, method: MethodDescription, result: unknown): unknown => {
  if (method.isResult?.(result)) return result;
  const parsed = method.result.safeParse(result);
  if (parsed.success) return parsed.data;
  throw new AppError(
    'RESULT_INVALID',
    `${name} answered what it must not: ${parsed.error.issues.map(sentence).join('; ')}`,
  );
};

const sentence = (issue: { readonly path: readonly PropertyKey[]; readonly message: string }): string =>
  issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;

/** One method of an implementation as a checked call: parameters parsed, errors as `AppError`, the result checked and frozen. */
export const checkedCall = (description: InterfaceDescription, methodName: string, implementation: unknown): Call => {
  const name = wireName(description, methodName);
  const method = description.methods[methodName];
  const call = (implementation as Record<string, Call | undefined>)[methodName];
  if (method === undefined || call === undefined) {
    throw new AppError('METHOD_UNKNOWN', `${description.name} has no method ${methodName}`);
  }
  return async (params, ctx) => {
    const parsed = frozenCopy(parseParams(name, method, params));
    const result = await call(parsed, ctx).catch((thrown: unknown) => {
      throw toAppError(thrown);
    });
    return frozenCopy(parseResult(name, method, result));
  };
};

/**
 * An implementation as a caller in the same process sees it: the deadline, error codes and frozen results that a call
 * over the bus has (DESIGN §2 rule 2). `progress` of the callee extends the deadline up to the method's maximum.
 */
export const direct = <I extends InterfaceDescription>(
  description: I,
  implementation: SpiOf<I>,
  deps: DeadlineDeps,
): SpiOf<I> => {
  const proxy: Record<string, Call> = {};
  for (const [methodName, method] of Object.entries(description.methods)) {
    const call = checkedCall(description, methodName, implementation);
    proxy[methodName] = (params, ctx) =>
      withDeadline(
        (signal, extend) =>
          call(params, {
            ...ctx,
            signal,
            progress: (note) => {
              extend();
              ctx.progress?.(note);
            },
          }),
        {
          ...deps,
          what: wireName(description, methodName),
          timeoutMs: ctx.timeoutMs,
          maxTimeoutMs: Math.max(ctx.timeoutMs, method.maxTimeoutMs),
          signal: ctx.signal,
        },
      );
  }
  return Object.freeze(proxy) as SpiOf<I>;
};
