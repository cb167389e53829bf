import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import assert from 'node:assert/strict';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { WatchedObject } from '@metal/testenv/cluster/watched-object.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';

/** Shared by the stories about cleanups. */

export const purge = '--cleanup-disks=Purge';
export const resetsBios = '--cleanup-bios=Reset';
export const restoresBootOrder = '--cleanup-boot-order=Reset';

/** One claimed machine with an image on its disk. */
export async function claimed(
  testenv: Testenv,
  vendor: Vendor = 'generic',
): Promise<{ node: Node; claim: ClaimHandle; name: string; server: WatchedObject<Server> }> {
  const [node] = await testenv.addNodes({ [vendor]: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  const { metadata } = await testenv.server(node).hasReason('ClaimServed');
  assert.notEqual(simulated(node).installed, undefined, 'the claim left its data');
  return { node, claim, name: metadata.name, server: testenv.server(node) };
}

/** States of the server from now on, and every time it was Available with data on its disks. */
export function follow(
  testenv: Testenv,
  node: Node,
): Disposable & { readonly states: string[]; readonly uncleanReleases: string[] } {
  const states: string[] = [];
  const uncleanReleases: string[] = [];
  const following = testenv.servers.onChange(({ after }) => {
    const state = after?.status?.state ?? '';
    if (after?.spec.systemUUID.toLowerCase() !== node.uuid.toLowerCase()) return;
    if (states.at(-1) !== state) states.push(state);
    if (state === 'Available' && simulated(node).installed !== undefined) uncleanReleases.push(JSON.stringify(after));
  });
  return { states, uncleanReleases, [Symbol.dispose]: () => following[Symbol.dispose]() };
}

const isAbout =
  (name: string) =>
  ({ spec }: ErasureReport): boolean =>
    spec.serverRef.name === name;

/** As the API server has them: what a story sees of a server may be ahead of a watch of ErasureReports. */
export const reportsOf = async ({ client }: Testenv, name: string): Promise<ErasureReport[]> =>
  (await client.list(ErasureReport)).items.filter(isAbout(name));

/** Waits for a change of the ErasureReports, which are written after what they are about has happened. */
export const untilReports = (
  testenv: Testenv,
  name: string,
  description: string,
  holds: (reports: readonly ErasureReport[]) => boolean,
): Promise<void> =>
  untilChanged(
    `reports of ${name}`,
    description,
    () => holds([...testenv.erasures.all()].filter(isAbout(name))),
    (check) => testenv.erasures.onChange(check),
    testenv.timeline,
  );

export const onlyRecord = async (testenv: Testenv, name: string): Promise<ErasureReport> => {
  const [record, ...others] = await reportsOf(testenv, name);
  assert.equal(others.length, 0);
  return record ?? assert.fail('there is no record');
};

export const until = (testenv: Testenv, name: string, state: string): Promise<unknown> =>
  testenv.servers.named(name).until(`is ${state}`, ({ status }) => status?.state === state);

const isOffWithoutBoot = ({ spec, status }: Server): boolean =>
  status?.powerState === 'Off' && spec.bootConfigurationRef === undefined;

/** The claim is released, and the last attempt to clean its server up fails. */
export async function failedRelease(
  testenv: Testenv,
  { claim, name, server }: Pick<Awaited<ReturnType<typeof claimed>>, 'claim' | 'name' | 'server'>,
): Promise<Server> {
  await claim.delete();
  await claim.isGone();
  await until(testenv, name, 'Error');
  const failed = await server.until('is off with nothing to boot', isOffWithoutBoot);
  assert.equal(failed.status?.failure?.reason, 'CleanupFailed');
  return failed;
}

/** Changes that a claim may leave on a machine besides the data on its disks. */
export function tamper({ machine }: Node): void {
  machine.biosAttributes = { ...machine.biosAttributes, LogicalProc: 'Disabled' };
  machine.bootOrder = ['Boot0003', 'Boot0001'];
  machine.override = { target: 'UefiHttp', isOnce: true, httpUri: 'http://elsewhere.example/' };
}
