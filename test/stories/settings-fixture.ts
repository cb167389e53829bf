import type { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSSettings as BIOSSettingsKind } from '@metal/api/v1alpha1/bios-settings.ts';
import type { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCSettings as BMCSettingsKind } from '@metal/api/v1alpha1/bmc-settings.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { freeMachine } from './update-fixture.ts';

/** Shared by the stories about settings. */

export type Settings = Readonly<Record<string, string>>;

/** Settings of the BIOS in one step; `flow` gives several, in the order of their priorities. */
export function createBiosSettings(
  { client }: Testenv,
  { node, name = 'tuned', ...spec }: { node: Node; name?: string } & Partial<BIOSSettings['spec']>,
  ...flow: readonly Settings[]
): Promise<BIOSSettings> {
  const settingsFlow = flow.map((settings, index) => ({ name: `step-${index + 1}`, priority: index + 1, settings }));
  return client.create(BIOSSettingsKind, {
    metadata: { name },
    spec: {
      version: node.bmc.profile.biosVersion,
      serverRef: { name: serverName(node) },
      settingsFlow,
      ...spec,
    },
  });
}

export function createBmcSettings(
  { client }: Testenv,
  { node, name = 'tuned', ...spec }: { node: Node; name?: string } & Partial<BMCSettings['spec']>,
  settings: Settings,
): Promise<BMCSettings> {
  return client.create(BMCSettingsKind, {
    metadata: { name },
    spec: { version: node.bmc.profile.firmwareVersion, BMCRef: { name: node.name }, settings, ...spec },
  });
}

/** Name of a server that was found by its BMC. */
export const serverName = ({ name }: Node, system = 0): string => `${name}-system-${system}`;

/** A machine with a claim, running. */
export async function claimedMachine(
  testenv: Testenv,
  vendor: Vendor = 'generic',
): Promise<{ readonly node: Node; readonly server: Server; readonly claim: ClaimHandle }> {
  const { node, server } = await freeMachine(testenv, vendor);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  return { node, server, claim };
}

export const approve = (testenv: Testenv, claim: string) =>
  testenv.claims.patch(claim, { metadata: { labels: { [maintenanceApprovedLabel]: 'true' } } });

/** States of the server by its history, each once in a row, since it was first in the given one. */
export function statesSince(server: Server | undefined, first: string): string[] {
  const states = server?.status?.history?.map(({ state }) => state) ?? [];
  return states.slice(states.indexOf(first)).filter((state, index, rest) => state !== rest[index - 1]);
}

/** Requests to the BMC that change settings or firmware, by method and path. */
export const changesSent = ({ bmc }: Node): string[] =>
  bmc.requests
    .filter(({ method, path }) => method !== 'GET' && /Bios|Managers|UpdateService/.test(path))
    .map(({ method, path }) => `${method} ${path}`);

/** How often a maintenance of the server began. */
export const countMaintenances = (testenv: Testenv): (() => number) => {
  const names = new Set<string>();
  testenv.maintenances.onChange(({ after }) => after !== undefined && names.add(after.metadata.uid ?? ''));
  return () => names.size;
};
