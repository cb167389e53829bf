import { describeIssues, describeUnknownKeys } from '@metal/api/common/file-content.ts';
import { type BareMetalHostStatus, bareMetalHostStatus } from '@metal/api/metal3/bare-metal-host-status.ts';
import { type HardwareDetails, hardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type * as z from 'zod';

/** The content of an annotation, or the problem for the user. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** The status of a host that was moved here; hardware is in HardwareData. Unknown keys are an error: they would be lost. */
export function parseSavedStatus(text: string, nowIso: string): Parsed<BareMetalHostStatus> {
  const parsed = parseStrictly(bareMetalHostStatus(), text, absentFields);
  if ('problem' in parsed) return parsed;
  return { value: { ...parsed.value, lastUpdated: parsed.value.lastUpdated ?? nowIso } };
}

/** A status of a former version of Metal3 has not all fields. Without `provisioning` the host would be a new one: that one is required. */
const absentFields = {
  operationalStatus: '',
  errorMessage: '',
  errorCount: 0,
  provisioningFailCount: 0,
  poweredOn: false,
};

/** Hardware details of a host that is not inspected. */
export const parseHardwareDetails = (text: string): Parsed<HardwareDetails> => parseStrictly(hardwareDetails(), text);

function parseStrictly<T extends z.ZodType>(schema: T, text: string, absent = {}): Parsed<z.output<T>> {
  const content = parseJson(text);
  if (content === undefined) return { problem: 'expected JSON' };
  const given = withoutEmpty(content);
  const members = typeof given === 'object' ? { ...absent, ...given } : given;
  const unknown = describeUnknownKeys(schema, members);
  const { data, error } = schema.safeParse(members);
  const problems = [...unknown, ...(error === undefined ? [] : describeIssues(error, members))];
  if (data === undefined || problems.length > 0) return { problem: problems.slice(0, 3).join('; ') };
  return { value: data };
}

function parseJson(text: string): unknown {
  try {
    const content: unknown = JSON.parse(text);
    return content ?? undefined;
  } catch {
    return undefined;
  }
}

/** Go writes null for an absent time, and an empty text for an absent value of an enum. */
const absentIfEmpty = new Set(['errorType', 'bootMode', 'checksumType', 'type']);

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const given = Object.entries(value).filter(
    ([key, member]) => member !== null && !(member === '' && absentIfEmpty.has(key)),
  );
  return Object.fromEntries(given.map(([key, member]) => [key, withoutEmpty(member)]));
}
