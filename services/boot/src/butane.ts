import { parse, type ScalarTag } from 'yaml';
import * as z from 'zod';
import { BootError } from './errors.ts';

/** Ignition specification that each Butane specification is translated to. */
const ignitionVersions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fcos: {
    '1.0.0': '3.0.0',
    '1.1.0': '3.1.0',
    '1.2.0': '3.2.0',
    '1.3.0': '3.2.0',
    '1.4.0': '3.3.0',
    '1.5.0': '3.4.0',
    '1.6.0': '3.5.0',
  },
  flatcar: { '1.0.0': '3.3.0', '1.1.0': '3.4.0' },
};

const owner = z.strictObject({ id: z.int().optional(), name: z.string().optional() }).optional();
const mode = z.int().min(0).max(0o7777).optional();
const path = z.string().startsWith('/', 'must be an absolute path');
const contents = z.strictObject({
  inline: z.string().optional(),
  source: z.string().optional(),
  compression: z.string().optional(),
  verification: z.strictObject({ hash: z.string().optional() }).optional(),
});

const file = z.strictObject({
  path,
  overwrite: z.boolean().optional(),
  contents: contents.optional(),
  append: z.array(contents).optional(),
  mode,
  user: owner,
  group: owner,
});
const directory = z.strictObject({ path, overwrite: z.boolean().optional(), mode, user: owner, group: owner });
const link = z.strictObject({
  path,
  target: z.string(),
  hard: z.boolean().optional(),
  overwrite: z.boolean().optional(),
  user: owner,
  group: owner,
});
const unit = z.strictObject({
  name: z.string(),
  enabled: z.boolean().optional(),
  mask: z.boolean().optional(),
  contents: z.string().optional(),
  dropins: z.array(z.strictObject({ name: z.string(), contents: z.string().optional() })).optional(),
});
const user = z.strictObject({
  name: z.string(),
  password_hash: z.string().optional(),
  ssh_authorized_keys: z.array(z.string()).optional(),
  uid: z.int().optional(),
  gecos: z.string().optional(),
  home_dir: z.string().optional(),
  no_create_home: z.boolean().optional(),
  primary_group: z.string().optional(),
  groups: z.array(z.string()).optional(),
  no_user_group: z.boolean().optional(),
  no_log_init: z.boolean().optional(),
  shell: z.string().optional(),
  system: z.boolean().optional(),
});
const group = z.strictObject({
  name: z.string(),
  gid: z.int().optional(),
  password_hash: z.string().optional(),
  system: z.boolean().optional(),
});

/** The part of Butane that is understood; everything else is refused by name rather than dropped. */
const butane = z.strictObject({
  variant: z.string(),
  version: z.string(),
  passwd: z.strictObject({ users: z.array(user).nullish(), groups: z.array(group).nullish() }).nullish(),
  storage: z
    .strictObject({
      files: z.array(file).nullish(),
      directories: z.array(directory).nullish(),
      links: z.array(link).nullish(),
    })
    .nullish(),
  systemd: z.strictObject({ units: z.array(unit).nullish() }).nullish(),
});
type Butane = z.output<typeof butane>;

/**
 * Translates a Butane document to Ignition JSON.
 * @throws BootError `IgnitionInvalid` naming the path of what is wrong or not understood.
 */
export function ignitionFromButane(text: string): string {
  const config = parseButane(text);
  const { passwd, storage, systemd } = config;
  return JSON.stringify({
    ignition: { version: versionOf(config) },
    passwd: section({
      users: passwd?.users?.map(userOf),
      groups: passwd?.groups?.map(({ password_hash: passwordHash, ...rest }) => ({ ...rest, passwordHash })),
    }),
    storage: section({ files: storage?.files?.map(fileOf), directories: storage?.directories, links: storage?.links }),
    systemd: section({ units: systemd?.units }),
  });
}

function parseButane(text: string): Butane {
  const result = butane.safeParse(yamlOf(text));
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 3).map((issue) => `${pathOf(issue)}: ${issue.message}`);
  throw new BootError('IgnitionInvalid', `the Butane document is not understood: ${issues.join('; ')}`);
}

/** Butane is written for a YAML 1.1 reader in one respect: `0644` is octal. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

function yamlOf(text: string): unknown {
  try {
    return parse(text, { customTags: (tags) => [octal, ...tags], merge: true });
  } catch (cause) {
    // Only the first line: the parser goes on to quote the document, which may hold secrets.
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new BootError('IgnitionInvalid', `the Butane document is not YAML: ${reason}`, cause);
  }
}

const pathOf = ({ path: steps }: z.core.$ZodIssue): string =>
  steps.length === 0
    ? 'document'
    : steps
        .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
        .join('')
        .replace(/^\./, '');

function versionOf({ variant, version }: Butane): string {
  const found = ignitionVersions[variant]?.[version];
  if (found !== undefined) return found;
  const known = Object.entries(ignitionVersions).map(
    ([name, versions]) => `${name} ${Object.keys(versions).join(', ')}`,
  );
  throw new BootError(
    'IgnitionInvalid',
    `variant ${variant} version ${version} is not understood; expected one of: ${known.join('; ')}`,
  );
}

/** Ignition spells in camel case what Butane spells with underscores. */
function userOf(user: NonNullable<NonNullable<Butane['passwd']>['users']>[number]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(user).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

function fileOf({ contents: whole, append, ...rest }: z.output<typeof file>): Record<string, unknown> {
  return {
    ...rest,
    contents: whole && resourceOf(whole, rest.path),
    append: append?.map((part) => resourceOf(part, rest.path)),
  };
}

function resourceOf({ inline, source, ...rest }: z.output<typeof contents>, where: string): Record<string, unknown> {
  if (inline !== undefined && source !== undefined)
    throw new BootError('IgnitionInvalid', `file ${where}: contents has both inline and source; expected one of them`);
  return { ...rest, source: inline === undefined ? source : `data:,${encodeURIComponent(inline)}` };
}

const section = (parts: Record<string, unknown>): Record<string, unknown> | undefined =>
  Object.values(parts).every((part) => part === undefined || part === null) ? undefined : withoutNull(parts);
const withoutNull = (parts: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null));
