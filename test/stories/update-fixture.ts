import assert from 'node:assert/strict';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';

/** Shared by the stories about settings and firmware. */

/** A free machine, discovered. */
export async function freeMachine(
  testenv: Testenv,
  vendor: Vendor = 'generic',
): Promise<{ readonly node: Node; readonly server: Server }> {
  const [node] = await testenv.addNodes({ [vendor]: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  return { node, server: await testenv.server(node).hasReason('Available') };
}

/** Serves an image for the machines of the node's model; gives its URI. */
export async function servedImage(
  stack: AsyncDisposableStack,
  { component, version }: { readonly component: string; readonly version: string },
): Promise<{ readonly uri: string; readonly images: ImageServer }> {
  const images = stack.use(await startImageServer());
  return { images, uri: images.serve(`${component}-${version}.bin`, firmwareImage({ component, version })) };
}

/** How often the machine was turned on since the given entry of its log. */
export const startsSince = ({ powerLog }: Node, since: number): number =>
  powerLog.slice(since).filter((power) => power === 'On').length;
