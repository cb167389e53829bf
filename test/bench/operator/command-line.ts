/** What a command line may name in braces, and what that means, for people. */
export const placeholders = {
  kubeconfig: 'file of a user of its own, who may do everything',
  macPrefixes: 'file with the MAC prefix database of the fleet',
  registryPort: 'where probes report: {"systemUUID", "data"}, POSTed to /register',
  metricsPort: 'where it may serve metrics, without TLS, at 127.0.0.1',
  healthPort: 'where it may serve /readyz, at 127.0.0.1',
  eventPort: 'where BMCs may send events to',
  bootPort: 'where machines boot from, if it has a boot service: GET /ipxe/<system UUID>',
  bootImages: 'file with kernel and initrd of bench/probe and bench/os, as --boot-images has it',
  ignitionTemplate: 'file with a template of an ignition that does nothing',
  servers: 'how many servers there are',
} as const;
export type Placeholder = keyof typeof placeholders;

const isPlaceholder = (name: string): name is Placeholder => name in placeholders;

/**
 * Puts what was asked for in the place of `{words}`; `${WORDS}` are the shell's.
 * @throws RangeError naming an unknown one and those that there are.
 */
export function filledIn(template: string, values: Readonly<Record<Placeholder, string>>): string {
  return template.replace(/(?<!\$)\{(\w+)\}/g, (_, name: string) => {
    if (isPlaceholder(name)) return quoted(values[name]);
    throw new RangeError(`found {${name}} in an operator's command; expected some of ${known}`);
  });
}

const known = Object.keys(placeholders)
  .map((name) => `{${name}}`)
  .join(', ');

/** As one word of a shell, or a part of one. */
export const quoted = (text: string): string =>
  /^[\w./:=,@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * A shell gives itself up for the command, so that the process keeps its id; `env` takes assignments before it. However this
 * process ends, the kernel ends the operator then.
 */
export const inShell = (line: string): [string, ...string[]] => [
  '/bin/sh',
  '-c',
  `exec setpriv --pdeathsig KILL env ${line}`,
];
