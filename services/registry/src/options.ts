import { existsSync } from 'node:fs';
import {
  oneOf,
  optionalText,
  type OptionTexts,
  parseOptions,
  port,
  readFileOf,
  text,
  url,
  urlOf,
} from '@metal/api/common/options.ts';
import type { CertificateFiles } from '@metal/http/certificate.ts';
import { ConfigError } from '@metal/kube/config-error.ts';

export const registryOptionTable = {
  url: url(
    'registry-url',
    '',
    'URL under which probes reach the registry; empty: <registry-protocol>://$REGISTRY_ADDRESS:<registry-port>',
  ),
  protocol: text('registry-protocol', 'http', 'Scheme of the composed registry URL'),
  port: port('registry-port', '10000', 'Port of the registry; 0 takes a free one'),
  auth: oneOf(['token', 'none'])(
    'registry-auth',
    'token',
    'token: reports need the token of their boot; none: reports need no token, for probes of v0.7.0',
  ),
  certificateDirectory: optionalText(
    'registry-cert-path',
    '',
    'Directory with tls.crt and tls.key for the registry, and ca.crt for probes; empty: the registry itself serves http',
  ),
  caFile: optionalText(
    'registry-ca-file',
    '',
    'Certificates (PEM) that probes verify an https registry against; empty: ca.crt beside its certificate, else the well-known ones',
  ),
};

export interface RegistryConfig {
  readonly auth: 'token' | 'none';
  readonly port: number;
  /** URL that probes are given; empty where nobody needs it. */
  readonly url: string;
  /** Files of the certificate that the registry presents; without them it serves http. */
  readonly certificateFiles: CertificateFiles | undefined;
  /** Certificates that probes verify the registry against. */
  readonly caPem: string | undefined;
}

/** @throws ConfigError */
export function readRegistryConfig(
  texts: OptionTexts,
  { environment, isUrlRequired }: { environment: NodeJS.ProcessEnv; isUrlRequired: boolean },
): RegistryConfig {
  const values = parseOptions(registryOptionTable, texts);
  const publicUrl = publicUrlOf(values, environment.REGISTRY_ADDRESS ?? '');
  if (publicUrl === '' && isUrlRequired)
    throw new ConfigError(
      'the registry has no address: give --registry-url, or set REGISTRY_ADDRESS to the host that machines reach',
    );
  const { auth, certificateDirectory: directory, caFile } = values;
  if (directory !== undefined && publicUrl.startsWith('http:'))
    throw new ConfigError(
      `--registry-cert-path gives the registry a certificate, but machines are told ${publicUrl}; expected https in --registry-url or --registry-protocol`,
    );
  return {
    auth,
    port: values.port,
    url: publicUrl,
    certificateFiles:
      directory === undefined
        ? undefined
        : { certificateFile: `${directory}/tls.crt`, keyFile: `${directory}/tls.key` },
    caPem: caPemOf(caFile, directory),
  };
}

function publicUrlOf(values: { url: string | undefined; protocol: string; port: number }, host: string): string {
  if (values.url !== undefined) return values.url;
  return host === '' ? '' : urlOf(values.protocol, host, values.port);
}

function caPemOf(caFile: string | undefined, directory: string | undefined): string | undefined {
  const beside = directory === undefined ? undefined : `${directory}/ca.crt`;
  const path = caFile ?? (beside !== undefined && existsSync(beside) ? beside : undefined);
  return path === undefined ? undefined : readFileOf('registry-ca-file', path);
}
