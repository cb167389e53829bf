import { BIOSAttributeRegistry } from '@metal/api/v1alpha1/bios-attribute-registry.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import type { Bmc, CallOptions } from '@metal/redfish/http/bmc.ts';
import type { AttributeRegistry, ObservedAttributes } from '@metal/redfish/resources/attributes.ts';
import { readBiosAttributes } from '@metal/redfish/resources/bios-attributes.ts';
import { type FirmwareComponent, readFirmwareInventory } from '@metal/redfish/resources/firmware-inventory.ts';
import { concernsOneResource } from '@metal/redfish/resources/members.ts';
import { StaleDecision } from '../../errors.ts';
import { systemOf } from '../../update-engine/targets.ts';
import type { OperatorContext } from '../context.ts';
import type { InventoryAction, InventoryFacts, InventoryMemory } from './facts.ts';
import { type Bios, publishedBios, publishedFirmware, publishedRegistry } from './published.ts';

type InventoryReconcile = Reconcile<ServerInventory, InventoryFacts, OperatorContext, InventoryMemory>;

export const inventoryActions: Record<InventoryAction, (reconcile: InventoryReconcile) => Promise<void>> = {
  readFirmware,
};

const deadlineMs = minutes(2);
/** Members of FirmwareInventory that are read one by one. With the collections, BIOS and registry it is less than 40 requests. */
const maxMemberReads = 30;

interface Reading {
  readonly components: readonly FirmwareComponent[];
  readonly unreadable: number;
  /** Undefined for a BIOS without attributes. */
  readonly attributes: ObservedAttributes | undefined;
}

/**
 * Reads firmware and BIOS attributes behind everything else that the BMC is asked for, and writes them in one request. A failure is
 * no failure of the BMC: it is tried again an hour later.
 */
async function readFirmware(reconcile: InventoryReconcile): Promise<void> {
  const { memory, context } = reconcile;
  const reading = await read(reconcile);
  reconcile.signal.throwIfAborted();
  if (reading === undefined) {
    memory.failures += 1;
    memory.failedAt = context.clock.now();
    return;
  }
  await publish(reconcile, reading);
  memory.failures = 0;
  memory.failedAt = undefined;
}

async function read({ facts, context, signal, log }: InventoryReconcile): Promise<Reading | undefined> {
  const { bmcName, connection } = facts.target;
  if (connection === undefined) throw new StaleDecision(`BMC ${bmcName} has no address or credentials any more`);
  const deadline = new AbortController();
  using _timer = context.clock.setTimeout(deadlineMs, () => deadline.abort());
  const call: CallOptions = {
    signal: AbortSignal.any([signal, deadline.signal]),
    priority: 'telemetry',
    isSideResource: true,
  };
  return await context.bmcConnections.withBmc(bmcName, connection, async (bmc) => {
    try {
      return await readAll(bmc, facts, call);
    } catch (error) {
      if (!(error instanceof RedfishError) && !deadline.signal.aborted) throw error;
      log.info({ err: error }, 'firmware and BIOS attributes cannot be read; tried again later');
      return undefined;
    }
  });
}

async function readAll(bmc: Bmc, { target }: InventoryFacts, call: CallOptions): Promise<Reading> {
  const { uri, expectedUuid } = systemOf(target);
  const attributes = await readBiosAttributes(bmc, uri, { ...call, expectedUuid }).catch(undefinedIfNone);
  let unreadable = 0;
  const onUnreadable = () => void (unreadable += 1);
  const components = await readFirmwareInventory(bmc, { ...call, maxReads: maxMemberReads, onUnreadable });
  return { components, unreadable, attributes };
}

/** This BIOS has no attributes, or cannot return them: the firmware is published all the same. */
function undefinedIfNone(error: unknown): undefined {
  if (concernsOneResource(error)) return undefined;
  throw error;
}

async function publish(
  { object, facts, context }: InventoryReconcile,
  { components, unreadable, attributes }: Reading,
): Promise<void> {
  const { name, uid } = object.metadata;
  const registry = attributes?.registry;
  const bios: Bios | undefined =
    attributes && publishedBios(attributes, registry && (await publishRegistry(registry, context)));
  const { biosVersion, bmcVersion } = facts.versions;
  const firmware = {
    readTime: new Date(context.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    biosVersion,
    bmcVersion,
    ...publishedFirmware(components, unreadable),
  };
  const options = { subresource: 'status', fieldManager: fieldManagerOf('serverinventory'), force: true } as const;
  await context.client.apply(ServerInventory, { metadata: { name, uid }, status: { firmware, bios } }, options);
}

/** The name of the shared object; the first server of its kind creates it. Undefined where nothing can be published. */
async function publishRegistry(
  registry: AttributeRegistry,
  { client }: Pick<OperatorContext, 'client'>,
): Promise<string | undefined> {
  const published = publishedRegistry(registry);
  if (published === undefined) return undefined;
  const { name, spec } = published;
  // Read first: a read costs less than a rejected write of a megabyte.
  if ((await client.find(BIOSAttributeRegistry, { name })) !== undefined) return name;
  try {
    await client.create(BIOSAttributeRegistry, { metadata: { name }, spec });
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'AlreadyExists')) throw error;
  }
  return name;
}
