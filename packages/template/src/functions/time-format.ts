import { offsetOf } from './time-zone.ts';

/** A moment: seconds since the epoch, nanoseconds within the second, and the zone that it is shown in. */
export interface Moment {
  readonly seconds: bigint;
  readonly nanos: number;
  readonly zone: string;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

interface Civil {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly yearDay: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanos: number;
  /** Seconds east of UTC. */
  readonly offset: number;
  readonly abbreviation: string;
}

const floorDiv = (a: number, b: number): number => Math.floor(a / b);

/** The date of a day counted from 1970-01-01, in the Gregorian calendar without end. */
const dateOf = (days: number): { readonly year: number; readonly month: number; readonly day: number } => {
  const shifted = days + 719468;
  const era = floorDiv(shifted, 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = floorDiv(
    dayOfEra - floorDiv(dayOfEra, 1460) + floorDiv(dayOfEra, 36524) - floorDiv(dayOfEra, 146096),
    365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + floorDiv(yearOfEra, 4) - floorDiv(yearOfEra, 100));
  const shiftedMonth = floorDiv(5 * dayOfYear + 2, 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - floorDiv(153 * shiftedMonth + 2, 5) + 1,
  };
};

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

const civilOf = (moment: Moment): Civil => {
  const { offset, abbreviation } = offsetOf(moment.zone, Number(moment.seconds) * 1000);
  const local = Number(moment.seconds) + offset;
  const days = floorDiv(local, 86400);
  const inDay = local - days * 86400;
  const date = dateOf(days);
  return {
    ...date,
    weekday: (((days + 4) % 7) + 7) % 7,
    yearDay: (DAYS_BEFORE[date.month - 1] ?? 0) + date.day + (date.month > 2 && isLeap(date.year) ? 1 : 0),
    hour: floorDiv(inDay, 3600),
    minute: floorDiv(inDay, 60) % 60,
    second: inDay % 60,
    nanos: moment.nanos,
    offset,
    abbreviation,
  };
};

const pad = (value: number, width: number, filler = '0'): string =>
  (value < 0 ? '-' : '') + Math.abs(value).toString().padStart(width, filler);

const zoneText = (offset: number, separator: string, hasMinutes: boolean, hasSeconds: boolean): string => {
  const size = Math.abs(offset);
  const hours = (offset < 0 ? '-' : '+') + pad(Math.floor(size / 3600), 2);
  const minutes = hasMinutes ? separator + pad(Math.floor(size / 60) % 60, 2) : '';
  return hours + minutes + (hasSeconds ? separator + pad(size % 60, 2) : '');
};

const zone =
  (separator: string, hasMinutes: boolean, hasSeconds = false) =>
  (c: Civil): string =>
    zoneText(c.offset, separator, hasMinutes, hasSeconds);

const zuluOr =
  (show: (c: Civil) => string) =>
  (c: Civil): string =>
    c.offset === 0 ? 'Z' : show(c);

const hour12 = (c: Civil): number => (c.hour % 12 === 0 ? 12 : c.hour % 12);

const name = (names: readonly string[], index: number): string => names[index] ?? '';

/** The elements of a layout, the longest first where one begins another. */
const ELEMENTS: readonly (readonly [string, (c: Civil) => string])[] = [
  ['January', (c) => name(MONTHS, c.month - 1)],
  ['Jan', (c) => name(MONTHS, c.month - 1).slice(0, 3)],
  ['Monday', (c) => name(DAYS, c.weekday)],
  ['Mon', (c) => name(DAYS, c.weekday).slice(0, 3)],
  ['MST', (c) => c.abbreviation],
  ['002', (c) => pad(c.yearDay, 3)],
  ['01', (c) => pad(c.month, 2)],
  ['02', (c) => pad(c.day, 2)],
  ['03', (c) => pad(hour12(c), 2)],
  ['04', (c) => pad(c.minute, 2)],
  ['05', (c) => pad(c.second, 2)],
  ['06', (c) => pad(((c.year % 100) + 100) % 100, 2)],
  ['15', (c) => pad(c.hour, 2)],
  ['1', (c) => String(c.month)],
  ['2006', (c) => pad(c.year, 4)],
  ['2', (c) => String(c.day)],
  ['_2006', (c) => `_${pad(c.year, 4)}`],
  ['__2', (c) => pad(c.yearDay, 3, ' ')],
  ['_2', (c) => pad(c.day, 2, ' ')],
  ['3', (c) => String(hour12(c))],
  ['4', (c) => String(c.minute)],
  ['5', (c) => String(c.second)],
  ['PM', (c) => (c.hour >= 12 ? 'PM' : 'AM')],
  ['pm', (c) => (c.hour >= 12 ? 'pm' : 'am')],
  ['-07:00:00', zone(':', true, true)],
  ['-070000', zone('', true, true)],
  ['-07:00', zone(':', true)],
  ['-0700', zone('', true)],
  ['-07', zone('', false)],
  ['Z07:00:00', zuluOr(zone(':', true, true))],
  ['Z070000', zuluOr(zone('', true, true))],
  ['Z07:00', zuluOr(zone(':', true))],
  ['Z0700', zuluOr(zone('', true))],
  ['Z07', zuluOr(zone('', false))],
];

/** A fraction of the second: `.000` shows all digits, `.999` leaves trailing noughts out. */
const fraction = (layout: string, c: Civil): string => {
  const digits = pad(c.nanos, 9)
    .slice(0, layout.length - 1)
    .padEnd(layout.length - 1, '0');
  if (layout.charAt(1) === '0') {
    return layout.charAt(0) + digits;
  }
  const short = digits.replace(/0+$/, '');
  return short === '' ? '' : layout.charAt(0) + short;
};

const FRACTION = /^[.,](0+|9+)(?![0-9])/;

interface Element {
  readonly text: string;
  readonly show: (c: Civil) => string;
}

/** `Jan` and `Mon` count only where no small letter follows, as in `Januar`. */
const isWord = (text: string, layout: string, at: number): boolean =>
  (text !== 'Jan' && text !== 'Mon') || !/^[a-z]/.test(layout.slice(at + 3, at + 4));

const elementAt = (layout: string, at: number): Element | undefined => {
  const [digits] = FRACTION.exec(layout.slice(at, at + 40)) ?? [];
  if (digits !== undefined && digits.length <= 10) {
    return { text: digits, show: (c) => fraction(digits, c) };
  }
  const found = ELEMENTS.find(([text]) => layout.startsWith(text, at) && isWord(text, layout, at));
  return found === undefined ? undefined : { text: found[0], show: found[1] };
};

/** A moment in one of Go's layouts, such as `2006-01-02 15:04:05`. */
export const formatTime = (moment: Moment, layout: string): string => {
  const civil = civilOf(moment);
  let out = '';
  for (let at = 0; at < layout.length; ) {
    const element = elementAt(layout, at);
    out += element === undefined ? layout.charAt(at) : element.show(civil);
    at += element?.text.length ?? 1;
  }
  return out;
};
