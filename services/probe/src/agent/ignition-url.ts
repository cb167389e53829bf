/** Parameters of the kernel: the last one of a name counts. Quotes hold spaces together, as the kernel reads them. */
export function kernelParameters(commandLine: string): ReadonlyMap<string, string> {
  const words = commandLine.match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
  return new Map(words.map((word) => parameterIn(word.replaceAll('"', ''))));
}

function parameterIn(word: string): [string, string] {
  const end = word.indexOf('=');
  return end < 0 ? [word, ''] : [word.slice(0, end), word.slice(end + 1)];
}

/**
 * Where this boot's ignition is: the kernel command line says it, or lies beside the boot file that DHCP named when
 * firmware started us over HTTP without one. Undefined as long as neither tells.
 */
export function ignitionUrl(commandLine: string, bootFiles: readonly string[]): string | undefined {
  const told = kernelParameters(commandLine).get('ignition.config.url');
  if (told !== undefined && told !== '') return told;
  const bootFile = bootFiles.find((file) => /^https?:\/\//.test(file) && URL.canParse(file));
  return bootFile === undefined ? undefined : new URL('ignition', bootFile).href;
}
