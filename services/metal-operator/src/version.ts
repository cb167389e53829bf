import { Gauge, type Registry } from 'prom-client';

export interface Build {
  readonly version: string;
  /** The commit. */
  readonly revision: string;
}

/** The build of the container image replaces this name by its own; undefined where the sources run. */
declare const METAL_BUILD: Build | undefined;

const fromSources: Build = { version: '0.0.0-dev', revision: 'unknown' };

/** What runs, also the labels of `metal_build_info` and the fields of the first log line. */
export const build: Build & { readonly node: string } = {
  ...(typeof METAL_BUILD === 'undefined' ? fromSources : METAL_BUILD),
  node: process.versions.node,
};

export const describeBuild = (): string =>
  `metal-operator ${build.version} (revision ${build.revision}, Node.js ${build.node})`;

export function exportBuild(registry: Registry): void {
  new Gauge({
    name: 'metal_build_info',
    help: 'Always 1; the labels are the version and the revision of the process, and the version of Node.js',
    labelNames: Object.keys(build),
    registers: [registry],
  }).set({ ...build }, 1);
}
