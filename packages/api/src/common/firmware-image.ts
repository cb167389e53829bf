import type { Secret } from '@metal/kube/kinds/builtin.ts';

/** Where a firmware image is (`spec.image` of BIOSVersion, BMCVersion, FirmwareVersion). */
export interface ImageLocation {
  readonly URI: string;
  readonly transferProtocol?: string | undefined;
}

/** The URL of an image at http or https, undefined for others. A URI without a scheme has that of the transfer protocol (DSP0266). */
export function imageUrlOf({ URI, transferProtocol }: ImageLocation): URL | undefined {
  const scheme = transferProtocol?.toLowerCase() ?? '';
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(URI) || !/^https?$/.test(scheme) ? URI : `${scheme}://${URI}`;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The keys username and password of the Secret of an image; undefined if one is missing or empty. */
export function imageCredentialsIn({ data }: Pick<Secret, 'data'>): { username: string; password: string } | undefined {
  const textOf = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  const found = { username: textOf('username'), password: textOf('password') };
  return found.username === '' || found.password === '' ? undefined : found;
}
