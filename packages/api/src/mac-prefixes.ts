import * as z from 'zod';
import { certificateFault } from './common/certificates.ts';
import { tls } from './common/fields.ts';
import { readYamlFile, validateFile, type Warn } from './common/file-content.ts';

const consoles = { ipmi: 'IPMI', ssh: 'SSH', sshlenovo: 'SSHLenovo' } as const;

const trust = tls().extend({
  caBundle: z
    .string()
    .superRefine((pem, context) => {
      const fault = certificateFault(pem);
      if (fault !== undefined) context.addIssue(fault);
    })
    .optional(),
  // Scalars of the file are texts.
  insecureSkipVerify: z
    .enum(['true', 'false'])
    .transform((answer) => answer === 'true')
    .optional(),
});

const entry = z.object({
  macPrefix: z
    .string()
    .transform(hexDigitsOf)
    .refine((digits) => /^[0-9A-F]{1,12}$/.test(digits), {
      message: 'expected 1 to 12 hex digits, with or without separators; quote it, or YAML may parse it as a number',
    }),
  manufacturer: z.string().optional(),
  protocol: z.string(),
  protocolScheme: z.enum(['', 'http', 'https']).optional(),
  port: z.coerce.number().int().min(1).max(65_535),
  type: z.string(),
  defaultCredentials: z.array(z.object({ username: z.string(), password: z.string() })).nullish(),
  console: z
    .object({
      type: z
        .string()
        .toLowerCase()
        .pipe(z.enum(['ipmi', 'ssh', 'sshlenovo']))
        .transform((name) => consoles[name]),
      port: z.coerce.number().int().min(1).max(65_535),
    })
    .nullish(),
  tls: trust.optional(),
});
const database = z.object({ macPrefixes: z.array(entry).nullish() });

export type MacPrefix = z.output<typeof entry>;

/** The MAC prefix database: device type and access parameters by MAC address prefix. */
export interface MacPrefixes {
  readonly count: number;
  /** The entry with the longest matching prefix; the address may be in any notation. */
  find(macAddress: string): MacPrefix | undefined;
}

export function macPrefixesOf(entries: readonly MacPrefix[]): MacPrefixes {
  const longestFirst = entries.toSorted((a, b) => b.macPrefix.length - a.macPrefix.length);
  return {
    count: entries.length,
    find: (macAddress) => {
      const digits = hexDigitsOf(macAddress);
      return longestFirst.find(({ macPrefix }) => digits.startsWith(macPrefix));
    },
  };
}

/**
 * Reads the database file named by `--mac-prefixes-file`; no file means an empty database. Unknown keys are one warning.
 * @throws ConfigError with the path, and the key, the expectation and the finding of each error
 */
export function readMacPrefixes(path: string | undefined, warn: Warn = () => undefined): MacPrefixes {
  if (path === undefined) return macPrefixesOf([]);
  const source = { flag: 'mac-prefixes-file', path };
  // Every scalar stays a string, so that an unquoted prefix such as 001122 or 1e5 keeps its digits.
  const content = readYamlFile(source, { schema: 'failsafe' });
  const { macPrefixes } = validateFile(source, { schema: database, content, warn });
  return macPrefixesOf(macPrefixes ?? []);
}

/** `3c:ec-ef.12` → `3CECEF12`. */
export function hexDigitsOf(macAddress: string): string {
  return macAddress.replace(/[:.-]/g, '').toUpperCase();
}
