const linePattern = /^[\w.~/-]+$/;
const enoughForEstimate = 50;

/** A line about a build: packages that are compiled, of those that the build cache lacks, and the time that is left. */
export function progressLine({
  compiled,
  stale,
  elapsedMs,
}: {
  compiled: number;
  stale: number;
  elapsedMs: number;
}): string {
  const seconds = Math.round(elapsedMs / 1_000);
  if (compiled >= stale) return `compiled all ${compiled} packages, linking (${seconds} s)`;
  const count = `compiled ${compiled} of ${stale} packages`;
  if (compiled < enoughForEstimate) return count;
  const leftMs = (elapsedMs / compiled) * (stale - compiled);
  return leftMs < 60_000
    ? `${count}, less than a minute left`
    : `${count}, about ${Math.ceil(leftMs / 60_000)} min left`;
}

/** Packages in the output of `go build -v`, which names each that it compiles and none that it has in its cache. */
export const countCompiled = (output: string): number =>
  output.split('\n').filter((line) => linePattern.test(line)).length;

/** Packages that `go build` will compile, by the output of `go list -f '{{.StaleReason}}'`: a current one has no line. */
export const countStale = (output: string): number =>
  output
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('go: ') && !line.includes('available in build cache')).length;

export const countDownloads = (output: string): number =>
  output.split('\n').filter((line) => line.startsWith('go: downloading ')).length;
