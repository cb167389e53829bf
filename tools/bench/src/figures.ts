/** One measured figure. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: 's' | 'kB' | 'MiB' | 'MiB/s' | 'images' | 'machines' | 'objects';
}

/** A table, or JSON. */
export function printFigures(figures: readonly Figure[], output: 'table' | 'json'): string {
  if (output === 'json') return `${JSON.stringify(figures, undefined, 2)}\n`;
  const width = Math.max(...figures.map(({ name }) => name.length));
  return figures
    .map(({ name, value, unit }) => `${name.padEnd(width)}  ${value.toFixed(2).padStart(10)} ${unit}\n`)
    .join('');
}

/** The percentile of the values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}
