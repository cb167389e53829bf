import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { GeneratedFile } from '../generated-folder.ts';
import { yamlFile } from '../yaml-file.ts';

const run = promisify(execFile);
const values = fileURLToPath(new URL('../../../../../deploy/install-values.yaml', import.meta.url));
const namespace = 'metal-operator-system';

interface Metadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** As far as it is read here. */
interface Manifest {
  readonly metadata: Metadata;
  readonly spec?: { readonly template?: { readonly metadata: Metadata } };
}

/** The chart as one file for kubectl: first its namespace, and nothing that only Helm understands. */
export async function installManifest(helm: string, chart: string): Promise<GeneratedFile> {
  const args = ['template', 'metal-operator', chart, '--namespace', namespace];
  const { stdout } = await run(helm, [...args, '--values', values], { maxBuffer: 1 << 26 });
  const objects = parseAllDocuments(stdout)
    // Rendered from our templates; the API server rejects anything that is not an object.
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
  for (const { metadata, spec } of objects) {
    strip(metadata);
    if (spec?.template !== undefined) strip(spec.template.metadata);
  }
  const ownNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  return yamlFile('install.yaml', [ownNamespace, ...objects]);
}

function strip(metadata: Metadata): void {
  for (const key of ['helm.sh/chart', 'app.kubernetes.io/managed-by']) delete metadata.labels?.[key];
  // CRDs have no other annotation.
  if (metadata.annotations?.['helm.sh/resource-policy'] !== undefined) delete metadata.annotations;
}
