import type { Entry } from '@metal/discovery-image/archive-entries.ts';

/** Something that the image consists of, with its files. Every file belongs to one. */
export interface Component {
  readonly type: 'application' | 'library';
  readonly name: string;
  readonly version: string;
  /** Package URL. */
  readonly purl?: string;
  readonly licenses: readonly string[];
  /** Digest of the package that its files come from, in base 16. */
  readonly hash?: { readonly algorithm: 'SHA-256' | 'SHA-512'; readonly content: string };
  readonly entries: readonly Entry[];
  /** What is compiled or bundled into its files. */
  readonly parts?: readonly Component[];
}

export const part = (fields: Omit<Component, 'type' | 'entries'>): Component => ({
  type: 'library',
  entries: [],
  ...fields,
});

/** The digest of an `integrity` of npm. */
export function hashOfIntegrity(integrity: string | undefined): Component['hash'] {
  const digest = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  return digest === undefined
    ? undefined
    : { algorithm: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') };
}
