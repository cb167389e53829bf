import * as z from 'zod';

/** What a machine needs to know of the ignition it fetched. */
export interface MachineIgnition {
  readonly document: unknown;
  /** Set when the ignition starts a probe. */
  readonly probe:
    | { readonly registryUrl: string; readonly serverUuid: string; readonly token: string | undefined }
    | undefined;
}

const shape = z.object({
  storage: z
    .object({
      files: z
        .array(z.object({ path: z.string(), contents: z.object({ source: z.string().optional() }).optional() }))
        .optional(),
    })
    .optional(),
  systemd: z
    .object({ units: z.array(z.object({ name: z.string(), contents: z.string().optional() })).optional() })
    .optional(),
});

/** Reads Ignition JSON as far as it matters here: the unit that starts a probe, and the files it names. */
export function readIgnition(text: string | undefined): MachineIgnition {
  if (text === undefined || text.trim() === '') return { document: undefined, probe: undefined };
  const document: unknown = JSON.parse(text);
  const parsed = shape.safeParse(document);
  const unit = parsed.data?.systemd?.units?.find(({ name }) => name === 'metalprobe.service')?.contents ?? '';
  const registryUrl = flagIn(unit, 'registry-url');
  const serverUuid = flagIn(unit, 'server-uuid');
  if (registryUrl === undefined || serverUuid === undefined) return { document, probe: undefined };
  const tokenFile = flagIn(unit, 'token-file');
  const source = parsed.data?.storage?.files?.find(({ path }) => path === tokenFile)?.contents?.source;
  return {
    document,
    probe: { registryUrl, serverUuid, token: source === undefined ? undefined : decodeDataUrl(source).trim() },
  };
}

const flagIn = (unit: string, name: string): string | undefined =>
  new RegExp(`--${name}[= ]([^\\s"']+)`).exec(unit)?.[1];

/** RFC 2397. */
function decodeDataUrl(url: string): string {
  const comma = url.indexOf(',');
  const data = url.slice(comma + 1);
  return url.slice(0, comma).endsWith(';base64')
    ? Buffer.from(data, 'base64').toString('utf8')
    : decodeURIComponent(data);
}
