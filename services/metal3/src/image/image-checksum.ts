import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';

export type Image = NonNullable<BareMetalHost['spec']['image']>;

/** How an image is verified. `algorithm` is absent if Ironic recognizes it by the checksum. */
export type ImageChecksum =
  | { readonly kind: 'none' }
  | { readonly kind: 'checksum'; readonly checksum: string; readonly algorithm?: 'md5' | 'sha256' | 'sha512' }
  | { readonly kind: 'invalid'; readonly problem: string };

export const isOciUrl = (url: string): boolean => /^oci:\/\//i.test(url);

/** The effective checksum of an image. The API server rejects invalid ones, but not in hosts that are older than its rules. */
export function imageChecksum({ url, format, checksum = '', checksumType = 'auto' }: Image): ImageChecksum {
  if (isOciUrl(url)) {
    return checksum === ''
      ? { kind: 'none' }
      : {
          kind: 'invalid',
          problem: 'spec.image.checksum: expected none for an oci URL, whose manifest has the checksum',
        };
  }
  if (format === 'live-iso') return { kind: 'none' };
  if (checksum === '')
    return { kind: 'invalid', problem: 'spec.image.checksum: expected a checksum, found none: set it' };
  switch (checksumType) {
    case 'auto':
      return { kind: 'checksum', checksum };
    case 'md5':
    case 'sha256':
    case 'sha512':
      return { kind: 'checksum', checksum, algorithm: checksumType };
    default:
      return { kind: 'invalid', problem: `spec.image.checksumType: unknown type "${String(checksumType)}"` };
  }
}
