import { readFileSync } from 'node:fs';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { legacyFieldManager } from '@metal/api/wire/contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { type Kind, type KubeObject, ownedBy } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { type DnsRecord, type RenderedRecord, renderRecord } from './dns-record.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { TemplateError } from '@metal/go-template/errors.ts';
import { type Template, templateOf } from '@metal/go-template/template.ts';

/** Result of writing the record of a BMC. */
export interface DnsOutcome {
  readonly at: number;
  /** The record as rendered. */
  readonly text: string;
  readonly problem: string | undefined;
}

const resourceList = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

/** One object per BMC, of the kind of the site's DNS operator, from a template of the site. */
export class DnsRecords {
  readonly #template: Template;
  readonly #namespace: string;
  readonly #client: KubeClient;
  readonly #kinds = new Map<string, Kind>();

  constructor({ template, namespace, client }: { template: Template; namespace: string; client: KubeClient }) {
    this.#template = template;
    this.#namespace = namespace;
    this.#client = client;
  }

  /** Renders the record, or returns the problem of the template. */
  render(bmc: BMC): RenderedRecord {
    return renderRecord(this.#template, bmc, this.#namespace);
  }

  /** Writes the record. A rejection by the API server is an outcome: only people can change the template or the roles. */
  async apply(bmc: BMC, { record, text }: { record: DnsRecord; text: string }, now: number): Promise<DnsOutcome> {
    const problem = await this.#write(bmc, record).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof KubeError) return error.message;
        throw error;
      },
    );
    return { at: now, text, problem };
  }

  async #write(bmc: BMC, { apiVersion, kind, metadata, ...rest }: DnsRecord): Promise<void> {
    const known = await this.#kindOf(apiVersion, kind);
    const place = known.scope === 'Namespaced' ? { namespace: metadata.namespace ?? this.#namespace } : {};
    await this.#client.apply<KubeObject>(
      known,
      { ...rest, metadata: { ...metadata, ...place, ownerReferences: [ownedBy(bmc)] } },
      { fieldManager: legacyFieldManager, force: true },
    );
  }

  /** Reads the plural from the API server, once per kind. */
  async #kindOf(apiVersion: string, kind: string): Promise<Kind> {
    const key = `${apiVersion}/${kind}`;
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const { resources } = resourceList.parse(await this.#client.raw({ method: 'GET', path }));
    const found = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
    if (found === undefined)
      throw new KubeError({ code: 'NotFound', message: `${apiVersion} has no kind ${kind}; is its CRD installed?` });
    const made: Kind = {
      group,
      version,
      apiVersion,
      kind,
      plural: found.name,
      singular: kind.toLowerCase(),
      listKind: `${kind}List`,
      shortNames: [],
      scope: found.namespaced ? 'Namespaced' : 'Cluster',
    };
    this.#kinds.set(key, made);
    return made;
  }
}

/**
 * The DNS records of the site; undefined without a template.
 * @throws ConfigError if the template is unreadable, blank or invalid.
 */
export function dnsRecordsOf(
  path: string | undefined,
  options: { readonly namespace: string; readonly client: KubeClient },
): DnsRecords | undefined {
  const template = dnsTemplateOf(path);
  return template && new DnsRecords({ ...options, template });
}

/** @throws ConfigError when the template cannot be read, is blank, or is not understood. */
export function dnsTemplateOf(path: string | undefined): Template | undefined {
  if (path === undefined) return undefined;
  const flag = `--dns-record-template-path: ${path}`;
  const text = readTemplate(path, flag);
  if (text.trim() === '') throw new ConfigError(`${flag} is blank; expected a template of one YAML document`);
  try {
    return templateOf(text);
  } catch (error) {
    if (error instanceof TemplateError) throw new ConfigError(`${flag}, ${error.message}`, error);
    throw error;
  }
}

function readTemplate(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${flag} cannot be read; give a readable template or leave the option out`, error);
  }
}
