import { createHash } from 'node:crypto';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { hostOfServerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { fleetCredentials } from '@metal/simulator/fleet-credentials.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import { ObjectsOfKind } from '@metal/testenv/cluster/objects-of-kind.ts';
import type { Testenv, TestenvOptions } from '@metal/testenv/testenv.ts';
import { Timeline } from '@metal/testenv/cluster/timeline.ts';
import type { WatchedObject } from '@metal/testenv/cluster/watched-object.ts';
import { pino } from 'pino';

/** Shared by the stories about BareMetalHosts on the native provisioner. */

export const namespace = 'default';
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

type Spec = BareMetalHost['spec'];

interface HostOptions extends Partial<Spec> {
  /** Path of the system in the address. */
  readonly path?: string;
  readonly password?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface NativeTestenv extends AsyncDisposable {
  readonly testenv: Testenv;
  readonly images: ImageServer;
  readonly hosts: ObjectsOfKind<BareMetalHost>;
  /** Creates a host of the node, and the Secret of its BMC. */
  host(node: Node, name: string, options?: HostOptions): Promise<WatchedObject<BareMetalHost>>;
  /** An image of the image server. */
  served(bytes: Uint8Array, name?: string): NonNullable<Spec['image']>;
  /** The Server that is marked for the host. */
  serverOf(name: string): WatchedObject<Server>;
}

export async function startNativeTestenv(
  start: (options: TestenvOptions) => Promise<Testenv>,
  flags: readonly string[] = [],
  options: Pick<TestenvOptions, 'speed'> = {},
): Promise<NativeTestenv> {
  await using stack = new AsyncDisposableStack();
  const images = stack.use(await startImageServer());
  const testenv = stack.use(await start({ ...options, flags: [...nativeFlags(images), ...flags] }));
  const native = stack.use(await followHosts(testenv, images));
  const opened = stack.move();
  return { ...native, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Flags of an operator for hosts on the native provisioner. */
export const nativeFlags = (images: ImageServer): string[] => [
  '--components=controllers,registry,boot,metal3',
  `--allowed-image-origins=${images.url}`,
  '--refused-image-networks=192.0.2.0/24',
];

/** Hosts in a test environment whose operator has the flags for them. */
export async function followHosts(testenv: Testenv, images: ImageServer): Promise<NativeTestenv> {
  await using stack = new AsyncDisposableStack();
  const hosts = await watchHosts(testenv, stack);
  const opened = stack.move();
  return {
    testenv,
    images,
    hosts,
    host: (node, name, options = {}) => createHost(testenv, hosts, node, { name, ...options }),
    served: (bytes, name = 'os.img') => {
      const checksum = createHash('sha256').update(bytes).digest('hex');
      return { url: images.serve(name, bytes), checksum, format: 'raw' };
    },
    serverOf: (name) => {
      const isMarked = ({ metadata }: Server) =>
        metadata.annotations?.[hostOfServerAnnotation]?.startsWith(`${namespace}/${name} `) === true;
      return testenv.servers.found(`Server of host ${name}`, () => [...testenv.servers.all()].find(isMarked));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function watchHosts({ client, clock, timeline: { timeoutMs } }: Testenv, stack: AsyncDisposableStack) {
  const caches = new CacheSet({ client, clock, log: pino({ level: 'silent' }) });
  const cache = caches.watch(BareMetalHost);
  stack.defer(() => caches.stop());
  await caches.start(new AbortController().signal);
  const timeline = new Timeline({ hosts: cache }, timeoutMs);
  timeline.start();
  const phase = ({ status }: BareMetalHost) => status?.provisioning.state;
  return new ObjectsOfKind({ kind: BareMetalHost, cache, client, timeline, phase });
}

async function createHost(
  { client, fleet }: Testenv,
  hosts: ObjectsOfKind<BareMetalHost>,
  node: Node,
  {
    name,
    path = '',
    password = fleetCredentials.password,
    annotations = {},
    ...spec
  }: HostOptions & { readonly name: string },
) {
  const data = { username: base64(fleetCredentials.username), password: base64(password) };
  await client.create(Secret, { metadata: { name: `${name}-bmc`, namespace }, data });
  const address = `redfish-virtualmedia+http://${node.bmc.address}:${fleet.port}${path}`;
  await client.create(BareMetalHost, {
    metadata: { name, namespace, annotations },
    spec: {
      online: true,
      automatedCleaningMode: 'metadata',
      bmc: { address, credentialsName: `${name}-bmc` },
      ...(path === '' ? { bootMACAddress: node.machine.hardware.nics[0]?.macAddress } : {}),
      ...spec,
    },
  });
  return hosts.named(name);
}
