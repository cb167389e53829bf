import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import { profiles, type Vendor } from '@metal/simulator/profiles.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import type { Testenv, TestenvOptions } from '@metal/testenv/testenv.ts';
import { freeMachine } from './update-fixture.ts';

export interface FirmwareStoryOptions extends TestenvOptions {
  readonly vendor?: Vendor;
  /** The server of the images asks for them. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Starts the operator, where the test environment does not. */
  readonly begin?: (testenv: Testenv) => Promise<unknown>;
}

type Spec<T extends { spec: object }> = Partial<T['spec']>;

/** A free machine, a server of images, and objects that change its firmware. */
export class FirmwareStory implements AsyncDisposable {
  readonly testenv: Testenv;
  readonly node: Node;
  readonly server: Server;
  readonly images: ImageServer;
  readonly #stack: AsyncDisposableStack;

  constructor(testenv: Testenv, node: Node, server: Server, images: ImageServer, stack: AsyncDisposableStack) {
    this.testenv = testenv;
    this.node = node;
    this.server = server;
    this.images = images;
    this.#stack = stack;
  }

  /** The versions that the BMC began to install. */
  get flashed(): string[] {
    return this.node.bmc.flashes.map(({ component, version }) => `${component.replace(/\/.*/, '')} ${version}`);
  }

  /** Serves an image for this model. */
  image(component: string, version: string): { URI: string } {
    const { manufacturer, model } = profiles[this.node.vendor];
    const image = firmwareImage({ component, version, manufacturer, models: [model] });
    return { URI: this.images.serve(`${component}-${version}.bin`, image) };
  }

  async bios(name: string, version: string, spec: Spec<BIOSVersion> = {}, annotations?: Record<string, string>) {
    const serverRef = { name: this.server.metadata.name };
    const image = this.image('BIOS', version);
    await this.testenv.client.create(BIOSVersion, {
      metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
      spec: { version, serverRef, ...spec, image: { ...image, ...spec.image } },
    });
    return this.testenv.updates.biosVersions.named(name);
  }

  async bmc(name: string, version: string, spec: Spec<BMCVersion> = {}) {
    const image = this.image('BMC', version);
    await this.testenv.client.create(BMCVersion, {
      metadata: { name },
      spec: { version, bmcRef: { name: this.node.name }, ...spec, image: { ...image, ...spec.image } },
    });
    return this.testenv.updates.bmcVersions.named(name);
  }

  /** A network adapter; the pattern matches that of every vendor. */
  async component(
    name: string,
    version: string,
    spec: Spec<FirmwareVersion> = {},
    annotations?: Record<string, string>,
  ) {
    const serverRef = { name: this.server.metadata.name };
    const { component = { pattern: adapterPattern(this.node.vendor) } } = spec;
    const image = this.image('NIC', version);
    await this.testenv.client.create(FirmwareVersion, {
      metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
      spec: { version, serverRef, component, ...spec, image: { ...image, ...spec.image } },
    });
    return this.testenv.updates.firmwareVersions.named(name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

const adapterPattern = (vendor: Vendor): string => (vendor === 'supermicro' ? 'NIC*' : '*E810*');

/** BMCs are back soon after a reset. */
const quickResets = ['--bmc-reset-waiting-interval=5s', '--bmc-reset-resync-interval=5s'];

export async function startFirmwareStory(
  startTestenv: (options: TestenvOptions) => Promise<Testenv>,
  { vendor, credentials, begin, flags = [], ...options }: FirmwareStoryOptions = {},
): Promise<FirmwareStory> {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv({ ...options, flags: [...quickResets, ...flags] }));
  await begin?.(testenv);
  const images = stack.use(await startImageServer(credentials));
  const { node, server } = await freeMachine(testenv, vendor);
  return new FirmwareStory(testenv, node, server, images, stack.move());
}
