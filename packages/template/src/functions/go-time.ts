import { method } from '../signature.ts';
import { type GoFunction, type GoObject, hasType, int, int64, makeObject, type Shape } from '../value/value.ts';
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

const inside = (self: GoObject): Moment => self.inner as Moment;

const getter = (get: (moment: Moment) => unknown): GoFunction => method([], (_run, self) => get(inside(self)));

const part = (layout: string): GoFunction => getter((moment) => int(Number(formatTime(moment, layout))));

const shown = (layout: string): GoFunction => getter((moment) => formatTime(moment, layout));

/** Go prints a time like this when it is given no layout. */
const DEFAULT_LAYOUT = '2006-01-02 15:04:05.999999999 -0700 MST';

const TIME: Shape = {
  type: 'time.Time',
  kind: 'struct',
  print: (self) => formatTime(inside(self), DEFAULT_LAYOUT),
  json: (self) => JSON.stringify(formatTime(inside(self), '2006-01-02T15:04:05.999999999Z07:00')),
  methods: {
    Format: method(['string'], (_run, self, layout) => formatTime(inside(self), layout)),
    String: shown(DEFAULT_LAYOUT),
    UTC: getter((moment) => timeValue({ ...moment, zone: 'UTC' })),
    Unix: getter((moment) => int64(moment.seconds)),
    UnixNano: getter((moment) => int64(moment.seconds * NANOS + BigInt(moment.nanos))),
    Year: part('2006'),
    Day: part('2'),
    Hour: part('15'),
    Minute: part('4'),
    Second: part('5'),
    YearDay: part('002'),
    Month: shown('January'),
    Weekday: shown('Monday'),
  },
};

/** A `time.Time` of the language. */
export const timeValue = (moment: Moment): GoObject => makeObject(TIME, moment);

/** The moment inside a time value. */
export const momentIn = (value: unknown): Moment | undefined =>
  hasType(value, 'time.Time') ? inside(value) : undefined;
