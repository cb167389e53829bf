import { type DeploymentOrder, type DeploymentReport, deploymentFiles } from '@metal/api/wire/deployment.ts';
import type { DeploymentStep } from '@metal/api/common/disk-image.ts';
import type { ProbeClock, ProbeLog } from '../environment.ts';
import { describeDisk, isSameDisk, type PresentDisk } from '../erase/match-disks.ts';
import { postEnd, postUntilAcknowledged, type Registry, reportWhile } from '../erase/post-report.ts';
import { addBootEntry } from './boot-entry.ts';
import { configDriveLabel, configDriveOf } from './config-drive.ts';
import { clearEnd, type DiskToWrite, readPlace, verifyImage, writeImage, writePatches } from './disk-writer.ts';
import { causeOf, DeploymentFailed, failingAs } from './failure.ts';
import { fetchJson, openImage } from './image-stream.ts';
import { type DeploymentMachine, thisMachine } from './machine.ts';
import { addedPartition, efiPartitionIn, movedBackup, tableBytes } from './partition-table.ts';

export interface DeploymentOptions {
  readonly order: DeploymentOrder;
  /** URL of the ignition of this boot; the image and the config drive are beside it. */
  readonly ignitionUrl: string;
  /** Base URL of the registry. */
  readonly registryUrl: string;
  /** Token of this boot. Never logged. */
  readonly token: string | undefined;
  readonly systemUUID: string;
  readonly clock: ProbeClock;
  readonly signal: AbortSignal;
  readonly log: ProbeLog;
  readonly machine?: DeploymentMachine | undefined;
  /** For the boot service. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** For the registry, whose certificate may have authorities of its own. */
  readonly fetchRegistry?: typeof globalThis.fetch | undefined;
  /** Between 0 and 1; jitter of the pauses between reports. */
  readonly random?: (() => number) | undefined;
}

const maxTransfers = 5;
const pauseBetweenTransfersMs = 10_000;

/** The progress of a deployment, which reports are made of. */
interface Progress {
  step: DeploymentStep;
  diskName: string;
  writtenBytes: number;
  /** A remark about a step that was left out. */
  message: string;
}

/**
 * Writes the image of the order to its disk, and resolves with the last report once it is acknowledged. Nothing is written
 * before the registry has acknowledged the order.
 *
 *   find the disk ─► Running acknowledged ─► write, verify what was sent ─► read back ─► config drive ─► boot entry ─► Succeeded
 *        └─ not there exactly once ──────────────┴── any error ──────────────────────────────────────────────────────► Failed
 *
 * @throws ProbeError `DeploymentRefused` if the registry rejects a report; the signal's reason when aborted.
 */
export async function runDeployment(options: DeploymentOptions): Promise<DeploymentReport> {
  const { signal, log } = options;
  const progress: Progress = { step: 'Preparing', diskName: '', writtenBytes: 0, message: '' };
  const registry = registryOf(options);
  const end = await deploy(options, progress, registry).then(
    () => reportOf(options, { ...progress, step: 'Done' }, 'Succeeded'),
    (error: unknown) => {
      if (!(error instanceof DeploymentFailed)) throw error;
      log.warn({ reason: error.reason }, `nothing more is written: ${error.message}`);
      return { ...reportOf(options, progress, 'Failed'), reason: error.reason, message: error.message.slice(0, 2_000) };
    },
  );
  return postEnd(end, registry, signal);
}

async function deploy(options: DeploymentOptions, progress: Progress, registry: Registry): Promise<void> {
  const { order, machine = thisMachine(), signal } = options;
  const disk = await failingAs('DiskMismatch', signal, () => findDisk(order, machine, signal));
  progress.diskName = disk.name;
  await postUntilAcknowledged(reportOf(options, progress, 'Running'), registry, signal);
  await reportWhile(
    {
      report: () => reportOf(options, progress, 'Running'),
      changesIn: ({ step, message }) => `${step} ${message}`,
    },
    { registry, signal },
    (whileValid) => writeDisk({ ...options, machine, signal: whileValid }, disk, progress),
  );
}

async function findDisk(
  { disk: ordered, image }: DeploymentOrder,
  machine: DeploymentMachine,
  signal: AbortSignal,
): Promise<PresentDisk> {
  const found = (await machine.disks(signal)).filter((disk) => isSameDisk(ordered, disk));
  const [disk, ...others] = found;
  const fail = (message: string) => new DeploymentFailed('DiskMismatch', message);
  if (disk === undefined) throw fail(`${describeDisk(ordered)} of the order is not there`);
  if (others.length > 0)
    throw fail(`${describeDisk(ordered)} is there as ${found.map(({ name }) => name).join(' and ')}`);
  if (disk.removable || disk.readOnly)
    throw fail(`${disk.name}, ${describeDisk(ordered)}, is ${disk.readOnly ? 'read-only' : 'removable'}`);
  if (disk.sizeBytes !== ordered.sizeBytes)
    throw fail(`${disk.name} has ${disk.sizeBytes} bytes; the order has ${ordered.sizeBytes}`);
  if (image.sizeBytes > disk.sizeBytes)
    throw new DeploymentFailed(
      'ImageLargerThanDisk',
      `the image has ${image.sizeBytes} bytes; ${disk.name} has ${disk.sizeBytes}`,
    );
  const uses = await machine.usesOf(disk);
  if (uses.length > 0) throw new DeploymentFailed('DiskInUse', uses.join('; '));
  return disk;
}

async function writeDisk(
  options: DeploymentOptions & { machine: DeploymentMachine },
  present: PresentDisk,
  progress: Progress,
): Promise<void> {
  const { order, machine, signal, log } = options;
  const drive = await fetchConfigDrive(options);
  await using device = await failingAs('DiskInUse', signal, () => machine.open(present));
  const { name, sizeBytes } = present;
  const disk: DiskToWrite = { name, sizeBytes, sectorBytes: present.logicalBlockSize || 512, device, signal };
  progress.step = 'Writing';
  log.info({ disk: name }, `${name}: writing ${order.image.sizeBytes} bytes`);
  await transfer(options, disk, progress);
  progress.step = 'Verifying';
  log.info({ disk: name }, `${name}: reading back`);
  await verifyImage(order.image, disk);
  progress.step = 'ConfigDrive';
  const start = await failingAs('ConfigDriveNotWritten', signal, () => finishDisk(order.image, drive, disk));
  progress.step = 'BootEntry';
  const missing = await addBootEntry(efiPartitionIn(start, disk.sectorBytes), machine.efi);
  progress.message = missing === undefined ? '' : `no UEFI boot entry was added: ${missing}`;
  log.info({ disk: name }, missing === undefined ? `${name}: first in the boot order` : progress.message);
}

async function transfer(options: DeploymentOptions, disk: DiskToWrite, progress: Progress): Promise<void> {
  const { order, ignitionUrl, fetch = globalThis.fetch } = options;
  const { signal } = disk;
  const url = new URL(deploymentFiles.diskImage, ignitionUrl);
  await repeatedly(options, async () => {
    const stream = await openImage(url, order.image.encoding, { fetch, signal });
    await writeImage(stream, order.image, disk, (bytes) => (progress.writtenBytes = bytes));
  });
}

/** Fetched before the first write. */
async function fetchConfigDrive(options: DeploymentOptions): Promise<Buffer | undefined> {
  const { order, ignitionUrl, signal, fetch = globalThis.fetch } = options;
  if (!order.configDrive) return undefined;
  const url = new URL(deploymentFiles.configDrive, ignitionUrl);
  const files = await repeatedly(options, () => fetchJson(url, { fetch, signal }));
  return failingAs('ConfigDriveNotWritten', signal, async () => configDriveOf(files));
}

/** Repeats a transfer that breaks off, from its beginning. */
async function repeatedly<T>({ clock, log, signal }: DeploymentOptions, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DeploymentFailed) throw error;
      const message = causeOf(error);
      if (attempt === maxTransfers)
        throw new DeploymentFailed('ImageNotReceived', `the transfer broke off ${attempt} times: ${message}`, error);
      log.warn({ attempt }, `the transfer broke off, and begins again: ${message}`);
      await clock.sleep(pauseBetweenTransfersMs, signal);
    }
  }
}

/** The partition table fits the disk, and has the config drive. Resolves with the beginning of the disk. */
async function finishDisk(
  image: DeploymentOrder['image'],
  drive: Buffer | undefined,
  disk: DiskToWrite,
): Promise<Buffer> {
  await clearEnd(image, disk);
  const start = await readPlace(disk, 0, Math.min(tableBytes, disk.sizeBytes));
  if (drive === undefined) {
    await writePatches(movedBackup(start, disk), disk);
    return start;
  }
  const { offset, patches } = addedPartition(start, disk, { label: configDriveLabel, contentBytes: drive.length });
  await writePatches([{ offset, data: drive }, ...patches], disk);
  return start;
}

const reportOf = (
  { systemUUID, order }: DeploymentOptions,
  { step, diskName, writtenBytes, message }: Progress,
  state: DeploymentReport['state'],
): DeploymentReport => ({
  systemUUID: systemUUID.toLowerCase(),
  deployment: order.deployment,
  state,
  step,
  message,
  diskName,
  writtenBytes,
});

const registryOf = ({ registryUrl, token, clock, log, order, ...options }: DeploymentOptions): Registry => ({
  route: 'deployments',
  order: `deployment ${order.deployment}`,
  registryUrl,
  token,
  clock,
  log,
  fetch: options.fetchRegistry ?? globalThis.fetch,
  attemptTimeoutMs: 5_000,
  random: options.random ?? Math.random,
});
