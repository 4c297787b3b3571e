import { runes, toBytes } from '../text/bytes.ts';
import { canBackquote, quote } from '../text/quote.ts';
import { type Flags, pad } from './format-flags.ts';

const truncated = (text: string, flags: Flags): string =>
  flags.precision === undefined ? text : runes(text).slice(0, flags.precision).join('');

const quoted = (text: string, flags: Flags): string => {
  const shown = truncated(text, flags);
  return pad(flags.sharp && canBackquote(shown) ? `\`${shown}\`` : quote(shown, flags.plus), flags);
};

const hexadecimal = (text: string, verb: string, flags: Flags): string => {
  const bytes = toBytes(text).subarray(0, flags.precision ?? Number.POSITIVE_INFINITY);
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const shown = digits.map((pair) => (verb === 'X' ? pair.toUpperCase() : pair));
  const prefix = flags.sharp && shown.length > 0 ? `0${verb}` : '';
  return pad(prefix + shown.join(flags.space ? ` ${prefix}` : ''), flags);
};

/** A text under a verb; undefined where the verb does not fit. */
export const formatText = (text: string, verb: string, flags: Flags): string | undefined => {
  switch (verb) {
    case 'v':
      return flags.sharpV ? quoted(text, flags) : pad(truncated(text, flags), flags);
    case 's':
      return pad(truncated(text, flags), flags);
    case 'q':
      return quoted(text, flags);
    case 'x':
    case 'X':
      return hexadecimal(text, verb, flags);
    default:
      return undefined;
  }
};
