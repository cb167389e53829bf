import { createHash } from 'node:crypto';
import type { Component } from './component.ts';

export interface SbomOptions {
  readonly name: string;
  readonly version: string;
  /** Seconds since 1970. */
  readonly createdSeconds: number;
  readonly components: readonly Component[];
}

/** A list of everything in the image, in CycloneDX 1.6. Its serial number is derived from its content: equal images have equal lists. */
export function sbomOf({ name, version, createdSeconds, components }: SbomOptions): string {
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(createdSeconds * 1_000).toISOString().replace('.000Z', 'Z'),
      component: { type: 'container', 'bom-ref': name, name, version },
    },
    components: components.map((component) => inSbom(component, '')),
  };
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  // The form of a UUID of version 8 (RFC 9562), which leaves its bits to the application.
  const serial = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5');
  return `${JSON.stringify({ ...content, serialNumber: `urn:uuid:${serial}` }, undefined, 2)}\n`;
}

function inSbom(component: Component, parent: string): object {
  const { type, name, version, purl, licenses, hash, entries, parts = [] } = component;
  const reference = `${parent}${purl ?? `${name}@${version}`}`;
  const files = entries.filter((entry) => entry.type !== 'directory').map(({ path }) => `/${path}`);
  return {
    type,
    'bom-ref': reference,
    name,
    version,
    ...(purl === undefined ? {} : { purl }),
    ...(hash === undefined ? {} : { hashes: [{ alg: hash.algorithm, content: hash.content }] }),
    ...(licenses.length === 0 ? {} : { licenses: licenses.map(licence) }),
    ...(parts.length === 0 ? {} : { components: parts.map((inner) => inSbom(inner, `${reference}#`)) }),
    ...(files.length === 0 ? {} : { evidence: { occurrences: files.toSorted().map((location) => ({ location })) } }),
  };
}

const identifiers = new Set(['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense']);

/** Only identifiers of SPDX may be an `id`. */
const licence = (text: string): object => ({ license: identifiers.has(text) ? { id: text } : { name: text } });
