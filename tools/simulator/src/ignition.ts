import { gunzipSync } from 'node:zlib';
import { type DeploymentOrder, deploymentOrder, deploymentOrderFile } from '@metal/api/wire/deployment.ts';
import { type ErasureOrder, erasureOrder, erasureOrderFile } from '@metal/api/wire/erasure.ts';
import * as z from 'zod';

/** The parts of a fetched ignition that a machine uses. */
export interface MachineIgnition {
  readonly document: unknown;
  /** Set when the ignition starts a probe. */
  readonly probe:
    | {
        readonly registryUrl: string;
        readonly serverUuid: string;
        readonly token: string | undefined;
        /** CA certificates for an https registry. */
        readonly caPem: string | undefined;
      }
    | undefined;
  /** Set when the ignition starts an erasure instead. */
  readonly erasure: ErasureOrder | undefined;
  /** Set when the ignition starts a deployment instead. */
  readonly deployment: DeploymentOrder | undefined;
}

const contents = z.object({ source: z.string().nullish(), compression: z.string().nullish() });
const shape = z.object({
  storage: z
    .object({ files: z.array(z.object({ path: z.string(), contents: contents.nullish() })).nullish() })
    .nullish(),
  systemd: z
    .object({
      units: z
        .array(z.object({ name: z.string(), enabled: z.boolean().nullish(), contents: z.string().nullish() }))
        .nullish(),
    })
    .nullish(),
});

/**
 * Reads the used parts of Ignition JSON: the enabled unit that starts a probe, and its token file. Undefined when the text is
 * no ignition.
 */
export function readIgnition(text: string): MachineIgnition | undefined {
  const document = parse(text);
  const parsed = shape.safeParse(document);
  if (!parsed.success) return undefined;
  const { systemd, storage } = parsed.data;
  const unit = systemd?.units?.find(
    ({ name, enabled }) => name === 'metalprobe.service' && enabled !== false,
  )?.contents;
  const registryUrl = flagIn(unit, 'registry-url');
  const serverUuid = flagIn(unit, 'server-uuid');
  if (registryUrl === undefined || serverUuid === undefined)
    return { document, probe: undefined, erasure: undefined, deployment: undefined };
  const tokenFile = flagIn(unit, 'token-file');
  const textOf = (wanted: string | undefined): string | undefined => {
    const file = storage?.files?.find(({ path }) => path === wanted)?.contents;
    return file?.source ? decodeDataUrl(file.source, file.compression ?? '') : undefined;
  };
  const token = textOf(tokenFile)?.trim();
  const caPem = textOf(flagIn(unit, 'ca-file'));
  const order = textOf(erasureOrderFile);
  const erasure = order === undefined ? undefined : erasureOrder.parse(JSON.parse(order));
  const toDeploy = textOf(deploymentOrderFile);
  const deployment = toDeploy === undefined ? undefined : deploymentOrder.parse(JSON.parse(toDeploy));
  return { document, probe: { registryUrl, serverUuid, token, caPem }, erasure, deployment };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const flagIn = (unit: string | null | undefined, name: string): string | undefined =>
  new RegExp(`--${name}(?:=|\\s+)["']?([^\\s"']+)`).exec(unit ?? '')?.[1];

/** RFC 2397, with the compression that Butane uses for longer files. */
function decodeDataUrl(url: string, compression: string): string | undefined {
  const [, base64, data = ''] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url) ?? [];
  if (!url.startsWith('data:')) return undefined;
  const bytes = base64 === undefined ? percentDecoded(data) : Buffer.from(decodeURIComponent(data), 'base64');
  return (compression === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** Bytes, not text: compressed contents may be percent-encoded too. */
const percentDecoded = (text: string): Buffer =>
  Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
