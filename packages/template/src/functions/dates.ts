import { failCall } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn } from '../signature.ts';
import { int64, isInt } from '../value/value.ts';
import { parseDuration } from './durations.ts';
import { addNanos, momentIn, momentOf, momentOfMillis, timeValue } from './go-time.ts';
import { formatTime, type Moment } from './time-format.ts';

const now = (run: Run): Moment =>
  run.host.clock === undefined
    ? failCall('there is no clock here: give a time')
    : momentOfMillis(run.host.clock(), 'Local');

/** A time, or seconds since the epoch; anything else means now, as in sprig. */
const momentOfValue = (run: Run, value: unknown): Moment => {
  const moment = momentIn(value);
  if (moment !== undefined) {
    return moment;
  }
  return isInt(value) && (value.type === 'int' || value.type === 'int64')
    ? momentOf(value.value, 0, 'Local')
    : now(run);
};

const format = (run: Run, layout: string, value: unknown, zone: string): string =>
  formatTime({ ...momentOfValue(run, value), zone }, layout);

const dateInZone = fn(['string', 'any', 'string'], format);

/** What is no duration leaves the time as it is. */
const dateModify = fn(['string', 'time'], (_run, duration, time) => {
  const moment = momentIn(time);
  return moment === undefined ? time : timeValue(addNanos(moment, parseDuration(duration) ?? 0n));
});

const HTML_DATE = '2006-01-02';

/** sprig's functions on dates. The local zone is UTC; the clock is the host's. */
export const DATE_FUNCTIONS: FunctionTable = {
  now: fn([], (run) => timeValue(now(run))),
  date: fn(['string', 'any'], (run, layout, value) => format(run, layout, value, 'Local')),
  dateInZone,
  date_in_zone: dateInZone,
  dateModify,
  date_modify: dateModify,
  htmlDate: fn(['any'], (run, value) => format(run, HTML_DATE, value, 'Local')),
  htmlDateInZone: fn(['any', 'string'], (run, value, zone) => format(run, HTML_DATE, value, zone)),
  unixEpoch: fn(['time'], (_run, time) => String(momentIn(time)?.seconds ?? 0n)),
  unixtime: fn([], (run) => int64(now(run).seconds)),
};
