import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeChart } from '@metal/project/generate/chart/write-chart.ts';
import { findHelm } from '@metal/project/helm.ts';
import { parseAllDocuments } from 'yaml';

const run = promisify(execFile);

export const releaseNamespace = 'metal-operator-system';

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly [key: string]: unknown;
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; annotations?: Record<string, string> };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly [Container];
    readonly volumes?: readonly Volume[];
    readonly [key: string]: unknown;
  };
}

interface Source {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string }[];
  readonly optional?: boolean;
}

export interface Volume {
  readonly name: string;
  readonly projected?: { readonly sources: readonly { readonly secret?: Source; readonly configMap?: Source }[] };
  readonly [key: string]: unknown;
}

/** An object that the chart renders, as far as tests read it. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly spec?: { readonly template?: PodTemplate; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** Helm with files of its own, and the chart. */
export class Helm implements AsyncDisposable {
  /** Directory of the chart. */
  readonly chart: string;
  readonly #program: string;
  readonly #directory: string;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(program: string, directory: string, kubeconfigPath: string) {
    this.#program = program;
    this.#directory = directory;
    this.chart = join(directory, 'metal-operator');
    const homes = ['HELM_CACHE_HOME', 'HELM_CONFIG_HOME', 'HELM_DATA_HOME'];
    const own = Object.fromEntries(homes.map((name) => [name, join(directory, name)]));
    this.#environment = { ...process.env, ...own, KUBECONFIG: kubeconfigPath };
  }

  static async open(kubeconfigPath = '/dev/null'): Promise<Helm> {
    const program = await findHelm({
      environment: process.env,
      log: (line) => void process.stderr.write(`${line}\n`),
    });
    const helm = new Helm(program, await mkdtemp(join(tmpdir(), 'metal-helm-')), kubeconfigPath);
    await writeChart(helm.chart);
    return helm;
  }

  /** @throws an error with what Helm printed */
  async run(command: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await run(this.#program, [command, ...args], { env: this.#environment, maxBuffer: 1 << 26 });
    return stdout;
  }

  /** The same with values. */
  async with(values: object, command: string, ...args: readonly string[]): Promise<string> {
    const file = join(await mkdtemp(join(this.#directory, 'values-')), 'values.json');
    await writeFile(file, JSON.stringify(values));
    return this.run(command, ...args, '--values', file);
  }

  /** The objects of the chart. */
  async render(values: object): Promise<Rendered[]> {
    const text = await this.with(values, 'template', 'metal-operator', this.chart, '--namespace', releaseNamespace);
    return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
      // For example a key that a template prints twice.
      for (const error of document.errors) throw error;
      // The API server judges them in another test.
      return (document.toJS() as Rendered | null) ?? [];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Objects by kind and name. */
export const foundIn = (objects: readonly Rendered[], kind: string, name: string): Rendered | undefined =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

/** @throws unless there is a workload of that name */
export function podOf(objects: readonly Rendered[], name: string): PodTemplate {
  const template = objects.find(({ metadata, spec }) => metadata.name === name && spec?.template !== undefined)?.spec
    ?.template;
  if (template === undefined) throw new Error(`the chart renders no workload ${name}`);
  return template;
}
