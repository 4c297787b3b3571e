const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const TERM = /^(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/;

const MAX = 2n ** 63n - 1n;

/** A duration such as `1h30m` or `-1.5s` in nanoseconds; undefined where it is none. */
export const parseDuration = (text: string): bigint | undefined => {
  const sign = /^[-+]/.test(text) ? text.charAt(0) : '';
  let rest = text.slice(sign.length);
  if (rest === '0') {
    return 0n;
  }
  if (rest === '' || rest.length > 200) {
    return undefined;
  }
  let total = 0n;
  while (rest !== '') {
    const [term, whole = '', fraction = '', unit = ''] = TERM.exec(rest) ?? [];
    const nanos = UNITS[unit];
    if (term === undefined || nanos === undefined || whole + fraction === '') {
      return undefined;
    }
    total +=
      BigInt(whole === '' ? '0' : whole) * nanos + (BigInt(`0${fraction}`) * nanos) / 10n ** BigInt(fraction.length);
    rest = rest.slice(term.length);
  }
  return total > MAX ? undefined : sign === '-' ? -total : total;
};
