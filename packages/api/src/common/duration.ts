const msPerUnit: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // micro sign
  μs: 1e-3, // Greek mu, which Go accepts too
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Go counts nanoseconds in 63 bits: about 292 years. */
const longestMs = 2 ** 63 / 1e6;

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds of a Go duration (`1h30m`, `500ms`, `-1.5s`, `0`); undefined for anything that Go rejects too. */
export function parseDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return 0;
  const ms = sumOfParts(unsigned);
  return ms === undefined || ms > longestMs ? undefined : sign * ms;
}

function sumOfParts(text: string): number | undefined {
  let ms = 0;
  let end = 0;
  while (end < text.length) {
    part.lastIndex = end;
    const [found, number, unit = ''] = part.exec(text) ?? [];
    if (found === undefined) return undefined;
    ms += Number(number) * (msPerUnit[unit] ?? 0);
    end += found.length;
  }
  return end === 0 ? undefined : ms;
}

/** The duration in Go's notation: `1h30m0s`, `2m0s`, `1.5s`, `500ms`, `0s`. */
export function printDuration(ms: number): string {
  if (ms === 0) return '0s';
  const sign = ms < 0 ? '-' : '';
  const size = Math.abs(ms);
  return sign + (size < 1_000 ? printFraction(size) : printWhole(size));
}

function printFraction(ms: number): string {
  if (ms >= 1) return `${ms}ms`;
  if (ms >= 1e-3) return `${Number((ms * 1e3).toFixed(3))}µs`;
  return `${Math.round(ms * 1e6)}ns`;
}

function printWhole(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${Number(((ms % 60_000) / 1_000).toFixed(9))}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
