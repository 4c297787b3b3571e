import { runeCount } from '../text/bytes.ts';

/** What stands between `%` and the verb. Width and precision are undefined where none is given. */
export interface Flags {
  width: number | undefined;
  precision: number | undefined;
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v` and `%#v`. */
  plusV: boolean;
  sharpV: boolean;
}

export const noFlags = (): Flags => ({
  width: undefined,
  precision: undefined,
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  plusV: false,
  sharpV: false,
});

/** Fills a text up to the width, in characters. */
export const pad = (text: string, flags: Flags, zero = flags.zero): string => {
  const missing = (flags.width ?? 0) - runeCount(text);
  if (missing <= 0) {
    return text;
  }
  const filler = (zero ? '0' : ' ').repeat(missing);
  return flags.minus ? text + filler : filler + text;
};
