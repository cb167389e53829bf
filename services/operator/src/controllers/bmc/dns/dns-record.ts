import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { parse } from 'yaml';
import * as z from 'zod';
import { dnsDataOf } from './dns-data.ts';
import { TemplateError } from '@metal/go-template/errors.ts';
import type { Template } from '@metal/go-template/template.ts';

const record = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().optional() }),
});
export type DnsRecord = z.output<typeof record>;

export type RenderedRecord =
  | { readonly record: DnsRecord; readonly text: string; readonly problem?: never }
  | { readonly record?: never; readonly text?: never; readonly problem: string };

/** Renders the record of this BMC, or returns the problem of the template. */
export function renderRecord(template: Template, bmc: BMC, namespace: string): RenderedRecord {
  try {
    const data = dnsDataOf(bmc, namespace);
    const unsafe = [...template.names].find((name) => Object.hasOwn(data, name) && hasControlCharacters(data[name]));
    if (unsafe !== undefined)
      return { problem: `${unsafe} of this BMC has control characters, which could add fields to the DNS record` };
    const text = template.render(data);
    const parsed = record.safeParse(parse(text));
    return parsed.success ? { record: parsed.data, text } : { problem: noObject(parsed.error) };
  } catch (error) {
    if (error instanceof TemplateError) return { problem: `DNS record template, ${error.message}` };
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `the DNS record template gives no YAML document: ${why}` };
  }
}

/** A line break in a text of the BMC would end the YAML scalar and add fields of its choice. */
function hasControlCharacters(value: unknown): boolean {
  if (typeof value === 'string') return /[\p{Cc}\u2028\u2029]/u.test(value);
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasControlCharacters);
}

function noObject({ issues: [issue] }: z.ZodError): string {
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return `the DNS record template gives no object: ${where}${issue?.message ?? ''}; expected apiVersion, kind and metadata.name`;
}
