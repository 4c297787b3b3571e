import { fn } from '../signature.ts';
import { GO, type GoFunction, type GoObject, int, int64, isObject } from '../value/value.ts';
import { formatTime, type Moment } from './time-format.ts';

const NANOS = 1_000_000_000n;

/** A moment from seconds since the epoch, with nanoseconds. */
export const momentOf = (seconds: bigint, nanos: number, zone: string): Moment => ({ seconds, nanos, zone });

/** A moment from JavaScript's milliseconds. */
export const momentOfMillis = (millis: number, zone: string): Moment => {
  const whole = Math.floor(millis / 1000);
  return { seconds: BigInt(whole), nanos: Math.round((millis - whole * 1000) * 1e6), zone };
};

export const addNanos = (moment: Moment, nanos: bigint): Moment => {
  const total = moment.seconds * NANOS + BigInt(moment.nanos) + nanos;
  const rest = ((total % NANOS) + NANOS) % NANOS;
  return { ...moment, seconds: (total - rest) / NANOS, nanos: Number(rest) };
};

const getter = (get: () => unknown): GoFunction => fn([], get);

const part = (moment: Moment, layout: string): number => Number(formatTime(moment, layout));

/** Go prints a time like this when it is given no layout. */
const DEFAULT_LAYOUT = '2006-01-02 15:04:05.999999999 -0700 MST';

/** A `time.Time` of the language. */
export const timeValue = (moment: Moment): GoObject => ({
  [GO]: 'object',
  type: 'time.Time',
  kind: 'struct',
  isNil: false,
  inner: moment,
  print: () => formatTime(moment, DEFAULT_LAYOUT),
  json: () => JSON.stringify(formatTime(moment, '2006-01-02T15:04:05.999999999Z07:00')),
  methods: {
    Format: fn(['string'], (_run, layout) => formatTime(moment, layout)),
    String: getter(() => formatTime(moment, DEFAULT_LAYOUT)),
    UTC: getter(() => timeValue({ ...moment, zone: 'UTC' })),
    Unix: getter(() => int64(moment.seconds)),
    UnixNano: getter(() => int64(moment.seconds * NANOS + BigInt(moment.nanos))),
    Year: getter(() => int(part(moment, '2006'))),
    Day: getter(() => int(part(moment, '2'))),
    Hour: getter(() => int(part(moment, '15'))),
    Minute: getter(() => int(part(moment, '4'))),
    Second: getter(() => int(part(moment, '5'))),
    Month: getter(() => formatTime(moment, 'January')),
    Weekday: getter(() => formatTime(moment, 'Monday')),
    YearDay: getter(() => int(part(moment, '002'))),
  },
});

/** The moment inside a time value. */
export const momentIn = (value: unknown): Moment | undefined =>
  isObject(value) && value.type === 'time.Time' ? (value.inner as Moment) : undefined;
