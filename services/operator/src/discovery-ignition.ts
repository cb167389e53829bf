import { generateKeyPairSync, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hash } from 'bcryptjs';
import { ConfigError } from './errors.ts';
import { openSshKeyPair } from './ssh-keys.ts';
import { TemplateError } from './template/errors.ts';
import { type Template, templateOf } from './template/template.ts';

const customaryPath = '/etc/metal-operator/ignition-template.yaml';
const tokenFile = '/etc/metalprobe/token';

export interface RenderedDiscovery {
  /** Butane text. */
  readonly ignition: string;
  /** Break-glass access to the discovery system, when the template grants any. */
  readonly access: { readonly pem: string; readonly pub: string; readonly password: string } | undefined;
}

export interface DiscoveryIgnition {
  render(machine: { systemUUID: string; token: string }): Promise<RenderedDiscovery>;
}

/**
 * The ignition of discovery boots, from a template with the variables of v0.7.0 (Image, Flags, SSHPublicKey,
 * PasswordHash) and Token. Keys and password are made only for templates that use them.
 * @throws ConfigError when the template cannot be read, is blank, or uses what is not understood.
 */
export function discoveryIgnitionOf(options: {
  templatePath: string | undefined;
  probeImage: string;
  registryUrl: string;
}): DiscoveryIgnition {
  const template = readTemplate(options.templatePath);
  const { names } = template;
  const wantsAccess = names.has('SSHPublicKey') || names.has('PasswordHash');
  return {
    render: async ({ systemUUID, token }) => {
      const access = wantsAccess ? makeAccess() : undefined;
      const variables = {
        Image: options.probeImage,
        Flags: `--registry-url=${options.registryUrl} --server-uuid=${systemUUID} --token-file=${tokenFile}`,
        Token: token,
        SSHPublicKey: access?.pub ?? '',
        PasswordHash: names.has('PasswordHash') && access !== undefined ? await passwordHash(access.password) : '',
      };
      return { ignition: template.render(variables), access };
    },
  };
}

function readTemplate(path: string | undefined): Template {
  const text = path === undefined ? (readIfPresent(customaryPath) ?? builtInTemplate) : readOrRefuse(path);
  if (text.trim() === '')
    throw new ConfigError(`--discovery-ignition-path: ${path ?? customaryPath} is blank; expected a Butane template`);
  return understood(text.trim());
}

const variableNames = new Set(['Image', 'Flags', 'SSHPublicKey', 'PasswordHash', 'Token']);

function understood(text: string): Template {
  const template = parsed(text);
  const stranger = [...template.names].find((name) => !variableNames.has(name));
  if (stranger === undefined) return template;
  throw new ConfigError(
    `ignition template: {{ .${stranger} }} is not understood; expected one of ${[...variableNames].map((name) => `{{ .${name} }}`).join(', ')}`,
  );
}

function parsed(text: string): Template {
  try {
    return templateOf(text);
  } catch (error) {
    if (error instanceof TemplateError) throw new ConfigError(`ignition template: ${error.message}`, error);
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

function readOrRefuse(path: string): string {
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

/** Prefix `$2a$`, which every crypt(3) with bcrypt knows; for short passwords the later prefixes mean the same. */
async function passwordHash(password: string): Promise<string> {
  return (await hash(password, 10)).replace(/^\$2[by]\$/, '$2a$');
}

function randomPassword(length: number): string {
  return Array.from({ length }, () => passwordAlphabet[randomInt(passwordAlphabet.length)]).join('');
}

/** Runs the probe that the discovery image brings along. The token is in a file: a process list is for everybody. */
const builtInTemplate = `variant: fcos
version: 1.3.0
storage:
  files:
    - path: ${tokenFile}
      mode: 0600
      contents:
        inline: "{{ .Token }}"
systemd:
  units:
    - name: metalprobe.service
      enabled: true
      contents: |
        [Unit]
        Description=Reports the hardware of this machine
        Wants=network-online.target
        After=network-online.target
        [Service]
        Restart=on-failure
        RestartSec=20
        ExecStart=/usr/bin/metalprobe {{ .Flags }}
        [Install]
        WantedBy=multi-user.target
`;
