import { untilChanged } from '@metal/testenv/watched-object.ts';
import assert from 'node:assert/strict';
import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ClaimHandle } from '@metal/testenv/claim-handle.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { simulated } from '@metal/testenv/simulated.ts';
import type { WatchedObject } from '@metal/testenv/watched-object.ts';
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

export const reportsOf = (testenv: Testenv, name: string): ErasureReport[] =>
  [...testenv.erasures.all()].filter(({ spec }) => spec.serverRef.name === name);

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
    () => holds(reportsOf(testenv, name)),
    (check) => testenv.erasures.onChange(check),
    testenv.timeline,
  );

export const onlyRecord = (testenv: Testenv, name: string): ErasureReport => {
  const [record, ...others] = reportsOf(testenv, name);
  assert.equal(others.length, 0);
  return record ?? assert.fail('there is no record');
};

export const until = (testenv: Testenv, name: string, state: string): Promise<unknown> =>
  testenv.servers.named(name).until(`is ${state}`, ({ status }) => status?.state === state);

/** Changes that a claim may leave on a machine besides the data on its disks. */
export function tamper({ machine }: Node): void {
  machine.biosAttributes = { ...machine.biosAttributes, LogicalProc: 'Disabled' };
  machine.bootOrder = ['Boot0003', 'Boot0001'];
  machine.override = { target: 'UefiHttp', isOnce: true, httpUri: 'http://elsewhere.example/' };
}
