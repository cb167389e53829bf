import { createHash } from 'node:crypto';
import type { SimulatedMachine } from '@metal/simulator/simulated-machine.ts';
import { z } from 'zod';

/** An image that an agent wrote to a disk of its machine. */
export interface AgentDeployment {
  readonly disk: string;
  readonly image: Buffer;
  /** As Ironic sent it: base64 of a gzipped ISO. */
  readonly configDrive: string | undefined;
}

/** An error that Ironic reads from the result of a command. */
export class AgentError extends Error {
  /** The class of the error in the agent. */
  readonly type: string;
  readonly details: string;

  constructor(type: string, message: string, details: string) {
    super(message);
    this.type = type;
    this.details = details;
  }
}

type StepKind = 'clean' | 'deploy' | 'service';

const stepOrder = z.object({
  step: z.looseObject({ interface: z.string(), step: z.string(), args: z.record(z.string(), z.unknown()).nullish() }),
  node: z.object({
    target_raid_config: z.record(z.string(), z.unknown()).nullish(),
    instance_info: z.object({ root_device: z.record(z.string(), z.unknown()).optional() }),
  }),
});
type StepOrder = z.infer<typeof stepOrder>;

const imageOrder = z.object({
  image_info: z.object({
    id: z.string(),
    urls: z.tuple([z.string()]),
    os_hash_algo: z.string().optional(),
    os_hash_value: z.string().optional(),
    checksum: z.string().optional(),
  }),
  configdrive: z.string().nullish(),
});
type ImageInfo = z.infer<typeof imageOrder>['image_info'];

const step = (iface: string, name: string, priority = 0) => ({
  interface: iface,
  step: name,
  priority,
  reboot_requested: false,
  abortable: true,
});
const stepsOf: Readonly<Record<StepKind, readonly object[]>> = {
  clean: [
    step('deploy', 'erase_devices', 10),
    step('deploy', 'erase_devices_metadata', 99),
    step('raid', 'delete_configuration'),
    step('raid', 'create_configuration'),
  ],
  deploy: [step('deploy', 'write_image'), step('deploy', 'install_everything')],
  service: [],
};

/** The part of an agent that works on its machine, through all its boots. */
export class AgentWork {
  /** The steps that began, in order, like `clean deploy.erase_devices`. */
  readonly steps: string[] = [];
  readonly deployments: AgentDeployment[] = [];
  /** Messages of steps that fail, by names like `deploy.erase_devices`. */
  readonly faults = new Map<string, string>();
  readonly #machine: SimulatedMachine;

  constructor(machine: SimulatedMachine) {
    this.#machine = machine;
  }

  /** @throws AgentError */
  async execute(name: string, params: unknown): Promise<unknown> {
    const command = this.#commands[name];
    if (command === undefined) throw new AgentError('InvalidCommandError', 'Invalid command', `Unknown: ${name}`);
    return command(params);
  }

  readonly #commands: Readonly<Record<string, (params: unknown) => Promise<unknown>>> = {
    'clean.get_clean_steps': async () => this.#offered('clean'),
    'clean.execute_clean_step': (params) => this.#step('clean', params),
    'deploy.get_deploy_steps': async () => this.#offered('deploy'),
    'deploy.execute_deploy_step': (params) => this.#step('deploy', params),
    'service.get_service_steps': async () => this.#offered('service'),
    'standby.get_partition_uuids': async () => ({}),
    'standby.sync': async () => ({}),
    'standby.power_off': async () => this.#machine.turnOff(),
    'standby.run_image': async () => this.#machine.restartGracefully(),
    'system.lockdown': async () => ({}),
    'image.install_bootloader': async () => ({ result: 'the image has one' }),
    'log.collect_system_logs': async () => ({ system_logs: Buffer.from('a log').toString('base64') }),
  };

  readonly #steps: Readonly<Record<string, (order: StepOrder) => Promise<unknown>>> = {
    'deploy.erase_devices': async () => this.#machine.erase(),
    'deploy.erase_devices_metadata': async () => this.#machine.erase(),
    'raid.delete_configuration': async () => ({ result: 'deleted' }),
    'raid.create_configuration': async ({ node }) => node.target_raid_config,
    'deploy.write_image': (order) => this.#writeImage(order),
    'deploy.install_everything': async () => this.#boots('custom'),
  };

  #offered(kind: StepKind): object {
    return {
      [`${kind}_steps`]: { GenericHardwareManager: stepsOf[kind] },
      hardware_manager_version: { generic_hardware_manager: '1.2' },
    };
  }

  async #step(kind: StepKind, params: unknown): Promise<object> {
    const order = stepOrder.parse(params);
    const name = `${order.step.interface}.${order.step.step}`;
    this.steps.push(`${kind} ${name}`);
    const fault = this.faults.get(name);
    if (fault !== undefined) throw new AgentError('CommandExecutionError', 'Command execution failed', fault);
    const result = await this.#steps[name]?.(order);
    return { [`${kind}_result`]: result ?? null, [`${kind}_step`]: order.step };
  }

  async #writeImage({ step: { args }, node }: StepOrder): Promise<object> {
    const { image_info: info, configdrive } = imageOrder.parse(args);
    const disk = this.#rootDisk(node.instance_info.root_device ?? {});
    const response = await fetch(info.urls[0]);
    if (!response.ok)
      throw new AgentError('ImageDownloadError', 'Error downloading image', `${info.urls[0]}: ${response.status}`);
    const image = Buffer.from(await response.arrayBuffer());
    verify(image, info, disk);
    await using device = this.#machine.disks.open(disk);
    await device.write(image, 0);
    this.deployments.push({ disk, image, configDrive: configdrive ?? undefined });
    this.#boots(`disk:${disk}`, image);
    return { result: `image (${info.id}) written to device /dev/${disk}` };
  }

  /** The first one that the hints name. */
  #rootDisk({ name, serial }: Readonly<Record<string, unknown>>): string {
    const found = this.#machine.hardware.disks.find(
      (disk) =>
        (name === undefined || name === `s== /dev/${disk.name}`) &&
        (serial === undefined || serial === `s== ${disk.serialNumber}`),
    );
    if (found === undefined)
      throw new AgentError('DeviceNotFound', 'Error finding the disk or partition device', 'no disk has these hints');
    return found.name;
  }

  #boots(url: string, image: Uint8Array = Buffer.of()): void {
    this.#machine.install({
      from: 'disk',
      role: 'os',
      kernel: { url, bytes: image.length, sha256: createHash('sha256').update(image).digest('hex') },
      initrd: undefined,
      commandLine: '',
      parameters: {},
      ignition: undefined,
    });
  }
}

/** A checksum without an algorithm has the length of its digest. */
const algorithmOf: Readonly<Record<number, string>> = { 32: 'md5', 64: 'sha256', 128: 'sha512' };

function verify(image: Uint8Array, info: ImageInfo, disk: string): void {
  const expected = info.os_hash_value ?? info.checksum ?? '';
  const actual = createHash(info.os_hash_algo ?? algorithmOf[expected.length] ?? 'sha256')
    .update(image)
    .digest('hex');
  if (actual === expected) return;
  const checksums = `image checksum: ${expected}; verification checksum: ${actual}`;
  throw new AgentError(
    'ImageChecksumError',
    'Error verifying image checksum',
    `Image failed to verify against checksum. location: /dev/${disk}; image ID: ${info.id}; ${checksums}`,
  );
}
