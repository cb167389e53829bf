import { readFileSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import * as z from 'zod';

const packageFile = z.object({ version: z.string() });

export interface Build {
  /** Of package.json. */
  readonly version: string;
  /** $METAL_REVISION, which the build of an image sets to its commit; `unknown` without. */
  readonly revision: string;
}

export function readBuild({ METAL_REVISION: revision = '' }: NodeJS.ProcessEnv): Build {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return { version: packageFile.parse(JSON.parse(text)).version, revision: revision === '' ? 'unknown' : revision };
}

export const describeBuild = ({ version, revision }: Build): string =>
  `metal-operator ${version} (revision ${revision}, Node.js ${process.versions.node})`;

export function exportBuild(registry: Registry, build: Build): void {
  new Gauge({
    name: 'metal_build_info',
    help: 'Always 1; the labels are the version and the revision of the process',
    labelNames: ['version', 'revision'],
    registers: [registry],
  }).set({ ...build }, 1);
}
