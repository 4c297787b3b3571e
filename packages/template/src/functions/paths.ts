import { type FunctionTable, fn } from '../signature.ts';

/** Go's `path.Clean`: the shortest path that means the same. */
export const cleanPath = (path: string): string => {
  const isRooted = path.startsWith('/');
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && kept.length > 0 && kept.at(-1) !== '..') {
      kept.pop();
    } else if (part === '..' ? !isRooted : part !== '' && part !== '.') {
      kept.push(part);
    }
  }
  const joined = kept.join('/');
  return isRooted ? `/${joined}` : joined === '' ? '.' : joined;
};

const base = (path: string): string => {
  if (path === '') {
    return '.';
  }
  const trimmed = path.replace(/\/+$/, '');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
};

const extension = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
};

const functions = {
  base: fn(['string'], (_run, path) => base(path)),
  dir: fn(['string'], (_run, path) => cleanPath(path.slice(0, path.lastIndexOf('/') + 1))),
  clean: fn(['string'], (_run, path) => cleanPath(path)),
  ext: fn(['string'], (_run, path) => extension(path)),
  isAbs: fn(['string'], (_run, path) => path.startsWith('/')),
};

/** sprig's functions on slash-separated paths. */
export const PATH_FUNCTIONS: FunctionTable = {
  ...functions,
  osBase: functions.base,
  osDir: functions.dir,
  osClean: functions.clean,
  osExt: functions.ext,
  osIsAbs: functions.isAbs,
};
