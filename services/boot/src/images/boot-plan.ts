import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation, discoveryAttemptAnnotation } from '@metal/api/wire/contract.ts';
import type { Artefact } from './artefact.ts';
import { BootError } from '../errors.ts';
import { type LayerName, mediaTypes } from './oci/layers.ts';

/** The boot methods, the preferred one first: iPXE passes a command line for this boot, a UKI has a built-in one. */
export const bootMethods = ['iPXE', 'UefiHttp'] as const;
export type BootMethod = (typeof bootMethods)[number];

/** How one image boots on one server. */
export interface BootPlan {
  readonly method: BootMethod;
  /** All possible methods, the chosen one first. */
  readonly methods: readonly BootMethod[];
  readonly rejectedMethods: readonly { readonly method: BootMethod; readonly reason: string }[];
  readonly image: BootImage;
  /** The files of the chosen method. */
  readonly artefacts: readonly Artefact[];
  /** The Secret of a custom script, if there is one. */
  readonly script?: string | undefined;
}

/** The properties of a server that determine its boot method. */
export interface Way {
  readonly capable?: readonly BootMethod[];
  /** Failed attempts rotate the methods. */
  readonly failedAttempts?: number;
}

const needs: Readonly<Record<BootMethod, readonly LayerName[]>> = { iPXE: ['kernel', 'initrd'], UefiHttp: ['uki'] };
const takesIfThere: Readonly<Record<BootMethod, readonly LayerName[]>> = { iPXE: ['squashfs'], UefiHttp: [] };

/** Boot targets of Redfish that lead to each method: iPXE is loaded over PXE or over HTTP. */
const targets: Readonly<Record<BootMethod, readonly string[]>> = { iPXE: ['Pxe', 'UefiHttp'], UefiHttp: ['UefiHttp'] };

/**
 * A BMC without a list of boot targets may support all. A failed discovery or cleanup gets a new boot configuration, which uses
 * the next method.
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
 * Selects a boot method for which the image has the layers and which the server supports.
 * @throws BootError LayerMissing if the image lacks layers for all methods, NoBootMethod if the server supports none of those that
 * the image has layers for
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
  // iPXE starts the UKI of an image that has no kernel and initrd.
  const isOffered = capable.includes(method) || (capable.includes('iPXE') && missingOf('iPXE', image).length > 0);
  if (!isOffered) return 'the server does not offer it';
  const missing = missingOf(method, image);
  return missing.length === 0 ? undefined : `it lacks the layer ${missing.map(described).join(' and the layer ')}`;
}

const missingOf = (method: BootMethod, image: BootImage): LayerName[] =>
  needs[method].filter((layer) => image[layer] === undefined);

const described = (layer: LayerName): string => `${layer} (${mediaTypes[layer][0] ?? ''})`;

/** The files of an image, and the kernel command line. */
export interface BootImage extends Partial<Readonly<Record<LayerName, Artefact>>> {
  /** The reference, as in spec.image. */
  readonly name: string;
  readonly commandLine: string;
  /** Of the manifest of an OCI image. */
  readonly digest?: string | undefined;
}
