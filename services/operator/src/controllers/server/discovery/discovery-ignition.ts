import { generateKeyPairSync, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hash } from 'bcryptjs';
import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { ignitionFormat } from '@metal/api/wire/contract.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { TemplateError } from '@metal/go-template/errors.ts';
import { type Template, templateOf } from '@metal/go-template/template.ts';
import { builtInIgnition, type ExtraFile } from './built-in-ignition.ts';
import { openSshKeyPair } from './ssh-keys.ts';

const defaultTemplatePath = '/etc/metal-operator/ignition-template.yaml';
const tokenFile = '/etc/metalprobe/token';
const caFile = '/etc/metalprobe/registry-ca.pem';

export interface RenderedDiscovery {
  readonly ignition: string;
  /** Key `format` of its Secret, where the ignition is Butane; undefined for Ignition JSON. */
  readonly format: typeof ignitionFormat | undefined;
  /** Break-glass access to the discovery system, when the template grants any. */
  readonly access: { readonly pem: string; readonly pub: string; readonly password: string } | undefined;
}

export interface DiscoveryIgnition {
  /** @throws ConfigError when files have to be added and the rendered Butane has no place for them. */
  render(machine: {
    systemUUID: string;
    token: string;
    files?: readonly ExtraFile[] | undefined;
  }): Promise<RenderedDiscovery>;
}

/**
 * The ignition of discovery boots. Without a template it is Ignition JSON, which needs no transpiler. With a template it is
 * Butane; the variables are those of v0.7.0 (Image, Flags, SSHPublicKey, PasswordHash) and Token. If the template does not
 * use Token, the token file is added. Keys and password are generated only for templates that use them.
 * @throws ConfigError when the template cannot be read, is blank, or uses an unknown variable or action.
 */
export function discoveryIgnitionOf(options: {
  templatePath: string | undefined;
  probeImage: string;
  registryUrl: string;
  /** none: only the flags of v0.7.0 are rendered into a template, as the probe of v0.7.0 rejects others. */
  registryAuth: 'token' | 'none';
  /** Certificate authorities of an https registry, instead of the public ones. */
  registryCaPem?: string | undefined;
}): DiscoveryIgnition {
  const template = readTemplate(options.templatePath);
  const trusted = options.registryCaPem === undefined ? [] : [{ path: caFile, text: options.registryCaPem }];
  const trust = trusted.map(({ path }) => ` --ca-file=${path}`).join('');
  const withToken = options.registryAuth === 'token';
  return {
    render: async ({ systemUUID, token, files = [] }) => {
      const flags = `--registry-url=${options.registryUrl} --server-uuid=${systemUUID}`;
      const ownFlags = `${flags} --token-file=${tokenFile}${trust}`;
      const tokenEntry = { path: tokenFile, text: token };
      if (template === undefined) {
        const ignition = builtInIgnition(ownFlags, [tokenEntry, ...trusted, ...files]);
        return { ignition, format: undefined, access: undefined };
      }
      const needsToken = withToken && !template.names.has('Token');
      const added = [...(needsToken ? [tokenEntry] : []), ...trusted, ...files];
      const { variables, access } = await accessFor(template);
      // The newline of the key breaks `[ {{ .SSHPublicKey }} ]` for this YAML parser, though not for Butane.
      if (added.length > 0) variables.SSHPublicKey = variables.SSHPublicKey.trimEnd();
      const Flags = withToken ? ownFlags : flags;
      const butane = template.render({ Image: options.probeImage, Flags, Token: token, ...variables });
      return { ignition: added.reduce(withFile, butane), format: ignitionFormat, access };
    },
  };
}

async function accessFor({ names }: Template) {
  const access = names.has('SSHPublicKey') || names.has('PasswordHash') ? makeAccess() : undefined;
  const PasswordHash = names.has('PasswordHash') && access !== undefined ? await passwordHash(access.password) : '';
  return { access, variables: { SSHPublicKey: access?.pub ?? '', PasswordHash } };
}

/**
 * Files are added to the rendered template, so that templates of earlier versions get them, too. Text is inserted and the
 * rest is not parsed and written again: a number such as 0644 would change its meaning.
 */
function withFile(butane: string, { path, text }: ExtraFile): string {
  const entry = JSON.stringify({ path, mode: 0o600, contents: { inline: text } });
  const added = inserted(butane, entry);
  if (added !== undefined && pathsIn(added)?.filter((one) => one === path).length === 1) return added;
  throw new ConfigError(
    `ignition template: there is no place for the file ${path}; expected Butane whose storage.files, if there is one, is a list without it`,
  );
}

/** Inserts at the start of the innermost existing collection, so that its content need not be parsed. JSON is YAML. */
function inserted(butane: string, entry: string): string | undefined {
  const document = parseDocument(butane);
  const [root, storage, files] = [document.contents, document.get('storage'), document.getIn(['storage', 'files'])];
  if (document.errors.length > 0 || !isMap(root)) return undefined;
  if (isSeq(files)) return before(butane, files, files.flow === true ? entry : `- ${entry}`);
  if (files !== undefined) return undefined;
  if (isMap(storage)) return before(butane, storage, `"files": [${entry}]`);
  return storage === undefined ? before(butane, root, `"storage": {"files": [${entry}]}`) : undefined;
}

function before(butane: string, collection: YAMLMap | YAMLSeq, item: string): string | undefined {
  const at = collection.range?.[0] ?? 0;
  if (collection.flow === true)
    return `${butane.slice(0, at + 1)}${item}${collection.items.length > 0 ? ', ' : ''}${butane.slice(at + 1)}`;
  const indentation = butane.slice(butane.lastIndexOf('\n', at - 1) + 1, at);
  return indentation.trim() === '' ? `${butane.slice(0, at)}${item}\n${indentation}${butane.slice(at)}` : undefined;
}

function pathsIn(butane: string): unknown[] | undefined {
  const document = parseDocument(butane);
  const files = document.errors.length === 0 ? document.getIn(['storage', 'files']) : undefined;
  return isSeq(files) ? files.items.map((item) => (isMap(item) ? item.get('path') : undefined)) : undefined;
}

function readTemplate(path: string | undefined): Template | undefined {
  const text = path === undefined ? readIfPresent(defaultTemplatePath) : readRequired(path);
  if (text === undefined) return undefined;
  if (text.trim() === '')
    throw new ConfigError(
      `--discovery-ignition-path: ${path ?? defaultTemplatePath} is blank; expected a Butane template`,
    );
  return validated(text.trim(), `--discovery-ignition-path: ${path ?? defaultTemplatePath}: ignition template`);
}

const variableNames = new Set(['Image', 'Flags', 'SSHPublicKey', 'PasswordHash', 'Token']);

function validated(text: string, source: string): Template {
  const template = parsed(text, source);
  const unknownVariable = [...template.names].find((name) => !variableNames.has(name));
  if (unknownVariable === undefined) return template;
  throw new ConfigError(
    `${source}: {{ .${unknownVariable} }} is not understood; expected one of ${[...variableNames].map((name) => `{{ .${name} }}`).join(', ')}`,
  );
}

function parsed(text: string, source: string): Template {
  try {
    return templateOf(text);
  } catch (error) {
    if (error instanceof TemplateError) throw new ConfigError(`${source}: ${error.message}`, error);
    throw error;
  }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readRequired(path: string): string {
  const text = readIfPresent(path);
  if (text === undefined)
    throw new ConfigError(
      `--discovery-ignition-path: cannot read ${path}; give a readable Butane template or leave the option out`,
    );
  return text;
}

function makeAccess(): NonNullable<RenderedDiscovery['access']> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { ...openSshKeyPair(publicKey, privateKey, 'metal-operator-discovery'), password: randomPassword(20) };
}

const passwordAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Every crypt(3) with bcrypt knows the prefix `$2a$`; for short passwords the later prefixes mean the same. */
async function passwordHash(password: string): Promise<string> {
  return (await hash(password, 10)).replace(/^\$2[by]\$/, '$2a$');
}

function randomPassword(length: number): string {
  return Array.from({ length }, () => passwordAlphabet[randomInt(passwordAlphabet.length)]).join('');
}
