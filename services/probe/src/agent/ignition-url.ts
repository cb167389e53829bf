/** Kernel parameters by name. The last one of a name takes effect; quotes protect spaces, as in the kernel. */
export function kernelParameters(commandLine: string): ReadonlyMap<string, string> {
  const parameters = commandLine.match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
  return new Map(parameters.map((parameter) => parameterIn(parameter.replaceAll('"', ''))));
}

function parameterIn(parameter: string): [string, string] {
  const end = parameter.indexOf('=');
  return end < 0 ? [parameter, ''] : [parameter.slice(0, end), parameter.slice(end + 1)];
}

/**
 * URL of the ignition of this boot: from the kernel command line, or else beside the boot file of the DHCP lease, for firmware
 * that starts this system over HTTP without a command line. Undefined if neither is known.
 */
export function ignitionUrl(commandLine: string, bootFiles: readonly string[]): string | undefined {
  const configured = kernelParameters(commandLine).get('ignition.config.url');
  if (configured !== undefined && configured !== '') return configured;
  const bootFile = bootFiles.find((file) => /^https?:\/\//.test(file) && URL.canParse(file));
  return bootFile === undefined ? undefined : new URL('ignition', bootFile).href;
}
