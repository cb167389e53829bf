import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { hostOfServerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import type { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import type { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { BmcAddress } from '../bmc/parse-bmc-address.ts';
import { bmcNameOf, claimNameOf, portOf } from './native-names.ts';

/** Objects of the operator that hosts are mapped to. */
export interface NativeCaches {
  /** With the index `bmc`: hosts by the name of their BMC. */
  readonly hosts: Cache<BareMetalHost>;
  readonly bmcs: Cache<BMC>;
  readonly bmcSecrets: Cache<BMCSecret>;
  readonly servers: Cache<Server>;
  readonly claims: Cache<ServerClaim>;
  readonly inventories: Cache<ServerInventory>;
  /** With the names of their hosts. */
  readonly firmwareComponents: Cache<HostFirmwareComponents>;
  /** With the index `server`, by name; BMCVersions with the index `bmc`. */
  readonly biosSettings: Cache<BIOSSettings>;
  readonly biosVersions: Cache<BIOSVersion>;
  readonly bmcVersions: Cache<BMCVersion>;
  readonly firmwareVersions: Cache<FirmwareVersion>;
}

/** What belongs to one host, from the caches. */
export interface HostObjects {
  readonly bmc: BMC | undefined;
  /** The Server of this host; undefined before it was found and marked. */
  readonly server: Server | undefined;
  /** The claim of this host; one of the same name that is not its own is `foreignClaim`. */
  readonly claim: ServerClaim | undefined;
  readonly hasForeignClaim: boolean;
}

/** Value of the annotation of a Server. */
export const markOf = ({ metadata }: Pick<BareMetalHost, 'metadata'>): string =>
  `${keyOf(metadata)} ${metadata.uid ?? ''}`;

/** The host that a Server is marked for, as namespace/name. */
export const hostKeyOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[hostOfServerAnnotation]?.split(' ', 1)[0];

export function findHostObjects(
  host: BareMetalHost,
  address: BmcAddress | undefined,
  caches: NativeCaches,
): HostObjects {
  const { metadata } = host;
  const mark = markOf(host);
  const server = [...caches.servers.all()].find(
    ({ metadata: found }) => found.annotations?.[hostOfServerAnnotation] === mark,
  );
  const claim = caches.claims.get({ namespace: metadata.namespace, name: claimNameOf(host) });
  const isOwn = claim?.metadata.annotations?.[hostOfServerAnnotation] === mark;
  return {
    bmc: bmcOf(address, server, caches),
    server,
    claim: isOwn ? claim : undefined,
    hasForeignClaim: claim !== undefined && !isOwn,
  };
}

/** That of the Server; before it is known, the one with the address, whoever created it. */
function bmcOf(address: BmcAddress | undefined, server: Server | undefined, { bmcs }: NativeCaches): BMC | undefined {
  const known = server?.spec.bmcRef?.name;
  if (known !== undefined) return bmcs.get(known);
  if (address === undefined) return undefined;
  return bmcs.get(bmcNameOf(address)) ?? [...bmcs.all()].find((bmc) => isAt(bmc, address));
}

const isAt = ({ spec, status }: BMC, address: BmcAddress): boolean =>
  (spec.access?.ip === address.host || status?.ip === address.host) && spec.protocol.port === portOf(address);

/** Other hosts with this address, the oldest first. */
export const otherHostsAt = (address: BmcAddress, host: BareMetalHost, { hosts }: NativeCaches): BareMetalHost[] =>
  [...hosts.by('bmc', bmcNameOf(address))].filter(({ metadata }) => metadata.uid !== host.metadata.uid).toSorted(byAge);

/** Whether the first one is the older of the two. */
export const isOlder = (one: BareMetalHost, other: BareMetalHost): boolean => byAge(one, other) < 0;

function byAge(one: BareMetalHost, other: BareMetalHost): number {
  const [first, second] = [one, other].map(({ metadata }) => `${metadata.creationTimestamp} ${keyOf(metadata)}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
}

/** Whether somebody holds a machine of the BMC, other than this one. */
export const hasClaimedServer = (bmc: BMC, { servers }: Pick<NativeCaches, 'servers'>, except?: Server): boolean =>
  [...servers.all()].some(
    ({ metadata, spec }) =>
      spec.bmcRef?.name === bmc.metadata.name &&
      spec.serverClaimRef !== undefined &&
      metadata.name !== except?.metadata.name,
  );

/** The message of a condition, with its reason. */
export function explained(
  { status }: { readonly status?: { readonly conditions?: readonly Explained[] | undefined } | undefined },
  type: string,
): string {
  const condition = status?.conditions?.find((one) => one.type === type);
  return condition === undefined ? 'no reason is reported' : `${condition.reason}: ${condition.message}`;
}

interface Explained {
  readonly type?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}
