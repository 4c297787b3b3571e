import { AppError } from '@infrakit/core';
import { type CallContext, type DeadlineDeps, direct, type InterfaceDescription, type SpiOf } from '@infrakit/spi';

/** A method whose description is known only at run time. */
export type Call = (params: unknown, ctx: CallContext) => Promise<unknown>;

/**
 * One method of an implementation as `direct` calls it: the deadline and what extends it, checked parameters and
 * results. Other methods need not be there. Errors: `METHOD_UNKNOWN`.
 */
export const directCall = (
  description: InterfaceDescription,
  methodName: string,
  implementation: object,
  deps: DeadlineDeps,
): Call => {
  const method = description.methods[methodName];
  const narrow: InterfaceDescription = {
    ...description,
    methods: method === undefined ? {} : { [methodName]: method },
  };
  const call = (direct(narrow, implementation as SpiOf<InterfaceDescription>, deps) as Record<string, Call>)[
    methodName
  ];
  if (call === undefined) throw new AppError('METHOD_UNKNOWN', `${description.name} has no method ${methodName}`);
  return call;
};
