/**
 * The template language of spec files: Go's text/template with sprig's and InfraKit's functions (EI §1.6). Pure: templates see
 * their data, and of the world outside only what `compile` is given.
 *
 * ```ts
 * const selector = compile(unescape('\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ int $p.slot \\}\\}'), { deterministic: true });
 * selector.render(instanceData({ ID: 'web-a', Properties: { slot: 7 } })); // '7'
 * ```
 */
export type { Limits } from './budget.ts';
export type { TemplateFunction } from './custom-functions.ts';
export { TemplateError } from './errors.ts';
export { escapeBraces as escape, unescapeBraces as unescape } from './escape.ts';
export type { Loader, LoadRequest, ScryptRequest } from './host.ts';
export { type InstanceDescription, instanceData } from './instance-data.ts';
export type { Position } from './position.ts';
export { compileValue, renderValue, type ValueTemplate } from './render-value.ts';
export type { MissingKey } from './run.ts';
export type { SourceMap } from './source-map.ts';
export { type CompileOptions, compile, type Rendered, type RenderOptions, type Template } from './template.ts';
