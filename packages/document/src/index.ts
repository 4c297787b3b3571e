export { type Decoded, type DecodeOptions, decode } from './decode.ts';
export { decodePart, type Part, parseProperties } from './decode-part.ts';
export {
  type Document,
  type Format,
  locate,
  type ReadOptions,
  readDocument,
  readDocuments,
} from './document.ts';
export { defaultLimits, type Limits } from './limits.ts';
export { formatValuePath, type Located, plain, type ValuePath } from './located.ts';
export { faultUnder, placed } from './place.ts';
export { createPositions, type Position } from './position.ts';
export { type PrintOptions, toJson, toYaml } from './print.ts';
export { formatProblem, type Problem, problemsError } from './problem.ts';
export type { Render, Rendered } from './render.ts';
