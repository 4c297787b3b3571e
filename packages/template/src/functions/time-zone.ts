/** How far a zone is from UTC at a moment, and what it is called then. */
export interface ZoneOffset {
  /** Seconds east of UTC. */
  readonly offset: number;
  readonly abbreviation: string;
}

const UTC: ZoneOffset = { offset: 0, abbreviation: 'UTC' };

const formats = new Map<string, Intl.DateTimeFormat | undefined>();

const formatOf = (zone: string, style: 'longOffset' | 'short'): Intl.DateTimeFormat | undefined => {
  const key = `${style} ${zone}`;
  if (!formats.has(key)) {
    try {
      formats.set(key, new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: style }));
    } catch {
      formats.set(key, undefined);
    }
  }
  return formats.get(key);
};

const zoneName = (format: Intl.DateTimeFormat, millis: number): string =>
  format.formatToParts(millis).find((part) => part.type === 'timeZoneName')?.value ?? '';

const isZoneName = (zone: string): boolean => /^[A-Za-z0-9_+\-/]{1,64}$/.test(zone);

/** Offset of a zone by its IANA name. `Local` is UTC, and so is a name that is unknown: sprig falls back the same way. */
export const offsetOf = (zone: string, millis: number): ZoneOffset => {
  if (zone === '' || zone === 'UTC' || zone === 'Local' || !isZoneName(zone) || Math.abs(millis) > 8.64e15) {
    return UTC;
  }
  const long = formatOf(zone, 'longOffset');
  if (long === undefined) {
    return UTC;
  }
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /GMT([+-])(\d+):(\d+)(?::(\d+))?/.exec(zoneName(long, millis)) ?? [];
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const offset = sign === '-' ? -size : size;
  const short = formatOf(zone, 'short');
  const shown = short === undefined ? '' : zoneName(short, millis);
  const numeric = `${sign}${hours.padStart(2, '0')}${minutes === '00' ? '' : minutes}`;
  return { offset, abbreviation: /^[A-Z]{3,5}$/.test(shown) ? shown : numeric };
};
