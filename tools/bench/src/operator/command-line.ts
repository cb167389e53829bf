/** Words in braces in a command line, with descriptions. */
export const placeholders = {
  kubeconfig: 'kubeconfig of a separate user with all permissions',
  macPrefixes: 'file with the MAC prefix database of the fleet',
  registryPort: 'where probes report: {"systemUUID", "data"}, POSTed to /register',
  metricsPort: 'where it may serve metrics, without TLS, at 127.0.0.1',
  healthPort: 'where it may serve /readyz, at 127.0.0.1',
  eventPort: 'where BMCs may send events to',
  bootPort: 'where machines boot from, if it has a boot service: GET /ipxe/<system UUID>',
  bootImages: 'file with kernel and initrd of bench/probe and bench/os, as --boot-images has it',
  ignitionTemplate: 'file with a template of an ignition that does nothing',
  imageOrigin: 'origin of the server with the images that scenarios install',
  servers: 'number of servers',
} as const;
export type Placeholder = keyof typeof placeholders;

const isPlaceholder = (name: string): name is Placeholder => name in placeholders;

/**
 * Replaces `{words}` by values; `${WORDS}` are left to the shell.
 * @throws RangeError with the unknown word and the known ones.
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

/** Quoted as one word of a shell, or a part of one. */
export const quoted = (text: string): string =>
  /^[\w./:=,@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * The shell is replaced by the command (exec), so that the process id stays; `env` accepts assignments before it. The operator ends
 * with this process, however it ends.
 */
export const inShell = (line: string): [string, ...string[]] => [
  '/bin/sh',
  '-c',
  `exec setpriv --pdeathsig KILL env ${line}`,
];
