import { gunzipSync } from 'node:zlib';
import { type DeploymentOrder, deploymentOrderFile } from '@metal/api/wire/deployment.ts';
import { type ErasureOrder, erasureOrderFile } from '@metal/api/wire/erasure.ts';
import * as z from 'zod';
import { readDeploymentOrder } from '../deploy/read-order.ts';
import { readErasureOrder } from '../erase/read-order.ts';
import { type ProbeConfig, probeCommand, readProbeConfig } from '../options.ts';
import { kernelParameters } from './ignition-url.ts';

const resource = z.object({ source: z.string().nullish(), compression: z.string().nullish() });
const ignition = z.object({
  ignition: z
    .object({
      security: z
        .object({ tls: z.object({ certificateAuthorities: z.array(resource).nullish() }).nullish() })
        .nullish(),
    })
    .nullish(),
  storage: z
    .object({ files: z.array(z.object({ path: z.string(), contents: resource.nullish() })).nullish() })
    .nullish(),
  systemd: z
    .object({
      units: z
        .array(z.object({ name: z.string(), enabled: z.boolean().nullish(), contents: z.string().nullish() }))
        .nullish(),
    })
    .nullish(),
});
type Ignition = z.output<typeof ignition>;

/** The task of the agent: report the hardware, or erase disks, or write an image to a disk, and report the results. */
export interface Orders extends ProbeConfig {
  readonly erasure: ErasureOrder | undefined;
  readonly deployment: DeploymentOrder | undefined;
}

const unitName = 'metalprobe.service';
const flagPrefix = 'metalprobe.';

/**
 * The task in the ignition: the flags of the enabled probe unit, with the contents of the files that they name, and the
 * order to erase or to deploy if there is one. `metalprobe.FLAG=VALUE` on the kernel command line overrides a flag.
 * @throws Error with the missing part.
 */
export function ordersFrom(text: string, commandLine: string): Orders {
  const parsed = ignition.parse(JSON.parse(text));
  const command = probeCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const config = readProbeConfig([...flagsOf(parsed), ...kernelFlags(commandLine)], {
    command,
    readFile: (path) => fileIn(parsed, path),
  });
  const orderIn = <T>(file: string, read: (text: string) => T): T | undefined => {
    const order = parsed.storage?.files?.find(({ path }) => path === file);
    return order === undefined ? undefined : read(contentOf(order.contents));
  };
  return {
    ...config,
    caPem: config.caPem ?? authoritiesIn(parsed),
    erasure: orderIn(erasureOrderFile, readErasureOrder),
    deployment: orderIn(deploymentOrderFile, readDeploymentOrder),
  };
}

function flagsOf({ systemd }: Ignition): string[] {
  const unit = systemd?.units?.find(({ name, enabled }) => name === unitName && enabled === true);
  if (unit === undefined) throw new Error(`the ignition enables no unit ${unitName}`);
  const tokens = tokensOfExecStart(unit.contents ?? '');
  // The program precedes the first flag of the probe: a path, or the command of a container runtime.
  const start = tokens.findIndex((token) => /^--?(registry-url|server-uuid)\b/.test(token));
  if (start < 0) throw new Error(`${unitName} gives the probe no --registry-url`);
  return tokens.slice(start);
}

function tokensOfExecStart(unit: string): string[] {
  const line = /^ExecStart=(.*)$/m.exec(unit.replaceAll(/\\\n\s*/g, ' '))?.[1] ?? '';
  return (line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((token) => token.replaceAll(/["']/g, ''));
}

const kernelFlags = (commandLine: string): string[] =>
  [...kernelParameters(commandLine)]
    .filter(([name]) => name.startsWith(flagPrefix))
    .map(([name, value]) => `--${name.slice(flagPrefix.length)}=${value}`);

function fileIn({ storage }: Ignition, path: string): string {
  const file = storage?.files?.find((candidate) => candidate.path === path);
  if (file === undefined) throw new Error(`the ignition has no file ${path}`);
  return contentOf(file.contents);
}

const authoritiesIn = (parsed: Ignition): string | undefined =>
  parsed.ignition?.security?.tls?.certificateAuthorities?.map(contentOf).join('\n');

/** RFC 2397. Butane compresses longer files. */
function contentOf(found: z.output<typeof resource> | null | undefined): string {
  const source = found?.source ?? 'data:,';
  const [, base64, data] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(source) ?? [];
  if (data === undefined) throw new Error('the ignition refers to a file by URL; expected all content in data: URLs');
  const bytes = base64 === undefined ? percentDecoded(data) : Buffer.from(decodeURIComponent(data), 'base64');
  return (found?.compression === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** As bytes, because compressed content may be percent-encoded too. */
const percentDecoded = (text: string): Buffer =>
  Buffer.from(
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
