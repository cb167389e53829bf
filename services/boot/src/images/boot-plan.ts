import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation, discoveryAttemptAnnotation } from '@metal/api/wire/contract.ts';
import type { Artefact } from './artefact.ts';
import { BootError } from '../errors.ts';
import { type LayerName, mediaTypes } from './oci/layers.ts';

/** The ways from the network into an image, the preferred one first: iPXE tells the kernel of its boot, a UKI has its words built in. */
export const bootMethods = ['iPXE', 'UefiHttp'] as const;
export type BootMethod = (typeof bootMethods)[number];

/** How one image boots on one server. */
export interface BootPlan {
  readonly method: BootMethod;
  /** All that are possible, the chosen one first. */
  readonly methods: readonly BootMethod[];
  readonly rejectedMethods: readonly { readonly method: BootMethod; readonly reason: string }[];
  readonly image: BootImage;
  /** What the chosen way loads. */
  readonly artefacts: readonly Artefact[];
  /** Secret with the script that a person wrote for it; else the script is ours. */
  readonly script?: string | undefined;
}

/** What of a server decides how it boots. */
export interface Way {
  readonly capable?: readonly BootMethod[];
  /** How many ways were tried before, in vain: each has its turn. */
  readonly failedAttempts?: number;
}

const needs: Readonly<Record<BootMethod, readonly LayerName[]>> = { iPXE: ['kernel', 'initrd'], UefiHttp: ['uki'] };
const takesIfThere: Readonly<Record<BootMethod, readonly LayerName[]>> = { iPXE: ['squashfs'], UefiHttp: [] };

/** Boot targets of Redfish that lead to each method: iPXE is loaded over PXE or over HTTP. */
const targets: Readonly<Record<BootMethod, readonly string[]>> = { iPXE: ['Pxe', 'UefiHttp'], UefiHttp: ['UefiHttp'] };

/**
 * How to boot this for this server. A BMC that does not say what it can be told may know everything.
 * Discoveries and cleanups that failed are made anew, and try the next way then.
 */
export function wayOf({ metadata }: ServerBootConfiguration, server: Server | undefined): Way {
  const offered = server?.status?.bootTargets ?? [];
  const isOffered = (method: BootMethod) => targets[method].some((target) => offered.includes(target));
  const { annotations } = metadata;
  const attempt = Number(annotations?.[discoveryAttemptAnnotation] ?? annotations?.[cleanupAttemptAnnotation] ?? 1);
  return {
    capable: offered.length === 0 ? bootMethods : bootMethods.filter(isOffered),
    failedAttempts: Number.isSafeInteger(attempt) && attempt > 0 ? attempt - 1 : 0,
  };
}

/**
 * Chooses how to boot: what the image has, of what the server can.
 * @throws BootError LayerMissing when the image lacks a layer for every way that the server can take, NoBootMethod when
 * the server cannot take the ways that the image has layers for.
 */
export function planOf(image: BootImage, { capable = bootMethods, failedAttempts = 0 }: Way = {}): BootPlan {
  const evaluated = bootMethods.map((method) => ({ method, reason: blockerOf(method, image, capable) }));
  const possible = evaluated.flatMap(({ method, reason }) => (reason === undefined ? [method] : []));
  const first = possible.length === 0 ? 0 : failedAttempts % possible.length;
  const methods = [...possible.slice(first), ...possible.slice(0, first)];
  const rejectedMethods = evaluated.flatMap(({ method, reason }) => (reason === undefined ? [] : [{ method, reason }]));
  const [method] = methods;
  if (method === undefined) {
    const hasLayersOfOne = bootMethods.some((candidate) => missingOf(candidate, image).length === 0);
    const reasons = rejectedMethods.map((rejected) => `${rejected.method}: ${rejected.reason}`).join('; ');
    throw new BootError(
      hasLayersOfOne ? 'NoBootMethod' : 'LayerMissing',
      `image "${image.name}" cannot be booted: ${reasons}`,
    );
  }
  const artefacts = [...needs[method], ...takesIfThere[method]].flatMap((layer) => image[layer] ?? []);
  return { method, methods, rejectedMethods, image, artefacts };
}

function blockerOf(method: BootMethod, image: BootImage, capable: readonly BootMethod[]): string | undefined {
  // A UKI that has no other way is started by iPXE.
  const isOffered = capable.includes(method) || (capable.includes('iPXE') && missingOf('iPXE', image).length > 0);
  if (!isOffered) return 'the server does not offer it';
  const missing = missingOf(method, image);
  return missing.length === 0 ? undefined : `it lacks the layer ${missing.map(described).join(' and the layer ')}`;
}

const missingOf = (method: BootMethod, image: BootImage): LayerName[] =>
  needs[method].filter((layer) => image[layer] === undefined);

const described = (layer: LayerName): string => `${layer} (${mediaTypes[layer][0] ?? ''})`;

/** What it takes to boot: files, and what to tell the kernel. */
export interface BootImage extends Partial<Readonly<Record<LayerName, Artefact>>> {
  /** As it was asked for. */
  readonly name: string;
  readonly commandLine: string;
  /** Of the manifest, where the image is one of a registry: what it names does not change. */
  readonly digest?: string | undefined;
}
