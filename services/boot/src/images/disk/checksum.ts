import type { DiskImage } from '@metal/api/common/disk-image.ts';
import { BootError } from '../../errors.ts';

const algorithms = { md5: 32, sha256: 64, sha512: 128 } as const;
export type ChecksumAlgorithm = keyof typeof algorithms;

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** In lower case. */
  readonly hex: string;
}

export const isChecksumUrl = ({ checksum }: Pick<DiskImage, 'checksum'>): boolean => /^https?:\/\//.test(checksum);

const invalid = (why: string): BootError => new BootError('DiskImageChecksumInvalid', `diskImage.checksum: ${why}`);

/** A checksum in hex. @throws BootError DiskImageChecksumInvalid */
export function checksumOf(text: string, type: DiskImage['checksumType']): Checksum {
  const hex = text.trim().toLowerCase();
  if (!/^[0-9a-f]+$/.test(hex)) throw invalid('expected a checksum in hex, or the URL of a checksum file');
  const known = Object.keys(algorithms) as ChecksumAlgorithm[]; // of this record
  const byLength = known.find((algorithm) => algorithms[algorithm] === hex.length);
  const algorithm = type === undefined || type === 'auto' ? byLength : type;
  if (algorithm === undefined || algorithms[algorithm] !== hex.length)
    throw invalid(`it has ${hex.length} digits; expected 32 (md5), 64 (sha256) or 128 (sha512) as checksumType says`);
  return { algorithm, hex };
}

/**
 * The checksum of the image in a checksum file: `<hex>  <name>` (coreutils), `<algorithm> (<name>) = <hex>` (BSD), or one
 * checksum alone.
 * @throws BootError DiskImageChecksumInvalid
 */
export function checksumIn(file: string, imageUrl: string, type: DiskImage['checksumType']): Checksum {
  const lines = file.split('\n').map((line) => line.trim());
  const only = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const [alone = ''] = only;
  if (only.length === 1 && /^[0-9a-fA-F]+$/.test(alone)) return checksumOf(alone, type);
  const name = nameIn(imageUrl);
  const found = only.flatMap((line) => entryIn(line)).filter((entry) => entry.name === name);
  const [first, ...others] = new Set(found.map(({ hex }) => hex.toLowerCase()));
  if (first === undefined) throw invalid(`the checksum file has no line for ${name}`);
  if (others.length > 0) throw invalid(`the checksum file has several checksums for ${name}`);
  return checksumOf(first, type);
}

const nameIn = (url: string): string => decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '');

function entryIn(line: string): { hex: string; name: string }[] {
  const [, hex, path] = /^([0-9a-fA-F]{32,128})\s+\*?(\S.*)$/.exec(line) ?? [];
  const [, bsdPath, bsdHex] = /^\w+ \((.+)\) = ([0-9a-fA-F]+)$/.exec(line) ?? [];
  const found = { hex: hex ?? bsdHex, path: path ?? bsdPath };
  if (found.hex === undefined || found.path === undefined) return [];
  return [{ hex: found.hex, name: found.path.split('/').at(-1) ?? '' }];
}
