/** Parameters of the kernel: the last one of a name counts. Quotes hold spaces together, as the kernel reads them. */
export function kernelParameters(commandLine: string): ReadonlyMap<string, string> {
  const parameters = commandLine.match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
  return new Map(parameters.map((parameter) => parameterIn(parameter.replaceAll('"', ''))));
}

function parameterIn(parameter: string): [string, string] {
  const end = parameter.indexOf('=');
  return end < 0 ? [parameter, ''] : [parameter.slice(0, end), parameter.slice(end + 1)];
}

/**
 * Where this boot's ignition is: the kernel command line says it, or lies beside the boot file that DHCP named when
 * firmware started us over HTTP without one. Undefined as long as neither tells.
 */
export function ignitionUrl(commandLine: string, bootFiles: readonly string[]): string | undefined {
  const configured = kernelParameters(commandLine).get('ignition.config.url');
  if (configured !== undefined && configured !== '') return configured;
  const bootFile = bootFiles.find((file) => /^https?:\/\//.test(file) && URL.canParse(file));
  return bootFile === undefined ? undefined : new URL('ignition', bootFile).href;
}
