import { AppError, toAppError } from '@infrakit/core';
import { faultUnder } from '@infrakit/document';
import { type CallContext, instanceInterface, type Plugins } from '@infrakit/spi';
import type { EnrollmentProperties } from './enrollment-schema.ts';

/** A sink that hangs does not hold a commit up for longer, in ms. */
const patienceMs = 2_000;

const isTemplate = (text: string): boolean => text.includes('{{') || text.includes(String.raw`\{\{`);

/** A path in the one form that is compared: `options.0` for `Options[0]`, and `env.a` for `Env["a"]`. */
const plain = (path: string): string => path.replace(/\[("?)(.*?)\1\]/g, '.$2').toLowerCase();

/** Paths of what is known only for a source entry: `client`, `env.0`. */
const templatedPaths = (value: unknown, path: readonly string[] = []): string[] => {
  if (typeof value === 'string') return isTemplate(value) ? [plain(path.join('.'))] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => [
    ...(isTemplate(name) ? [plain(path.join('.'))] : []),
    ...templatedPaths(below, [...path, name]),
  ]);
};

const isBelow = (path: string, other: string): boolean =>
  other === '' || path === other || path.startsWith(`${other}.`);

/** Whether a fault is about something that a template may still put right. */
const mayBeTemplated = (fault: string, templated: readonly string[]): boolean => {
  const end = fault.indexOf(': ');
  const path = end < 0 ? '' : plain(fault.slice(0, end));
  return templated.some((each) => isBelow(each, path) || isBelow(path, each));
};

/**
 * Asks the sink whether it could make something of the properties, so that what is wrong with them is told at commit, all of it at
 * once. What a template gives is not judged, and a sink that does not answer holds nothing up. Errors: `SPEC_INVALID`.
 */
export const checkSinkProperties = async (
  { Plugin, Properties }: EnrollmentProperties['Instance'],
  plugins: Plugins,
  ctx: CallContext,
): Promise<void> => {
  if (typeof Properties !== 'object' || Properties === null) return;
  const templated = templatedPaths(Properties);
  try {
    const bounded = { ...ctx, timeoutMs: Math.min(ctx.timeoutMs, patienceMs) };
    await plugins.resolve(instanceInterface, Plugin).validate({ properties: Properties }, bounded);
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code !== 'INSTANCE_INVALID') return;
    const told = error.facts.faults;
    const all = Array.isArray(told) ? told.map(String) : [error.message];
    const sure = templated.length === 0 ? all : all.filter((fault) => !mayBeTemplated(fault, templated));
    if (sure.length === 0) return;
    const faults = sure.map((fault) => `${faultUnder('Instance.Properties', fault)} (says ${Plugin})`);
    throw new AppError('SPEC_INVALID', faults.join('\n'), { facts: { plugin: Plugin, faults }, cause: error });
  }
};
