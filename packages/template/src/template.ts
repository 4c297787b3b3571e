import type { Host } from './host.ts';
import { compileProgram, type ProgramOptions } from './program.ts';
import type { Program, Run } from './run.ts';
import { guarded, type SessionOptions, startRun, untilSettled } from './session.ts';
import { type Segment, type SourceMap, sourceMap } from './source-map.ts';
import { settle } from './text/bytes.ts';

/** Options of `compile`. What a template may see of the world outside is given here too; by default it sees nothing. */
export interface CompileOptions
  extends ProgramOptions,
    Pick<Host, 'clock' | 'random' | 'env' | 'loader' | 'privateKey' | 'scrypt' | 'echo'> {}

/** Options of one rendering. */
export interface RenderOptions extends SessionOptions {}

/** A rendered text that knows where its parts came from. */
export interface Rendered {
  readonly text: string;
  readonly map: SourceMap;
}

/** A compiled template: pure, and safe to render any number of times. */
export interface Template {
  /**
   * The text for some data (JSON values, or `instanceData`). The data is never changed. Throws a TemplateError of kind
   * `exec` and nothing else.
   */
  render(data: unknown, options?: RenderOptions): string;
  /** As `render`, with a map back to the template. */
  renderWithMap(data: unknown, options?: RenderOptions): Rendered;
  /** As `render`, waiting for what the loader or a function promises. */
  renderAsync(data: unknown, options?: RenderOptions): Promise<string>;
  /** As `renderWithMap`, waiting like `renderAsync`. */
  renderWithMapAsync(data: unknown, options?: RenderOptions): Promise<Rendered>;
}

/** The part of the options that is the world outside; a deterministic template gets none. */
export const hostOf = (options: CompileOptions): Host => {
  const { deterministic, clock, random, env, loader, privateKey, scrypt, echo } = options;
  return deterministic === true ? { echo } : { clock, random, env, loader, privateKey, scrypt, echo };
};

interface Attempt {
  readonly program: Program;
  readonly host: Host;
  readonly data: unknown;
  readonly options: RenderOptions;
  readonly segments: Segment[] | undefined;
  readonly mayWait: boolean;
}

const runOnce = ({ program, host, data, options, segments, mayWait }: Attempt): string => {
  const run: Run = startRun(program, host, data, segments);
  return guarded(run, mayWait, options, (dot) => {
    program.main(run, dot);
    return settle(run.output);
  });
};

/**
 * Compiles a template. Throws a TemplateError of kind `parse`, with the place and, for an unknown function, the name that may
 * have been meant.
 */
export const compile = (text: string, options: CompileOptions = {}): Template => {
  const program = compileProgram(text, options);
  const host = hostOf(options);

  const plain = (data: unknown, renderOptions: RenderOptions, world: Host, mayWait: boolean): string =>
    runOnce({ program, host: world, data, options: renderOptions, segments: undefined, mayWait });

  const mapped = (data: unknown, renderOptions: RenderOptions, world: Host, mayWait: boolean): Rendered => {
    const segments: Segment[] = [];
    const rendered = runOnce({ program, host: world, data, options: renderOptions, segments, mayWait });
    return { text: rendered, map: sourceMap(program.source, segments) };
  };
  return {
    render: (data, renderOptions = {}) => plain(data, renderOptions, host, false),
    renderWithMap: (data, renderOptions = {}) => mapped(data, renderOptions, host, false),
    renderAsync: (data, renderOptions = {}) => untilSettled(host, (world) => plain(data, renderOptions, world, true)),
    renderWithMapAsync: (data, renderOptions = {}) =>
      untilSettled(host, (world) => mapped(data, renderOptions, world, true)),
  };
};
