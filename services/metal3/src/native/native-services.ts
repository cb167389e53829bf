import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { SettingSchema } from '@metal/api/metal3/firmware-schema.ts';
import { provisionerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { BIOSAttributeRegistry } from '@metal/api/v1alpha1/bios-attribute-registry.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import {
  type FirmwareComponentState,
  type FirmwareSettings,
  NodeBusy,
  type NodeServices,
  NodeUnknown,
  NotSupported,
} from '../provisioner/node-services.ts';
import { componentsOfServer, settingsOfHost } from './firmware-of-server.ts';
import { objectsOfHost } from './firmware-objects.ts';
import { findHostObjects, type NativeCaches } from './host-objects.ts';

interface Access {
  readonly client: KubeClient;
  readonly caches: NativeCaches;
  readonly publishesFirmware: boolean;
}

/** Firmware of one host, as the operator has published it. The caches have only the time at which it was read. */
export class NativeNodeServices implements NodeServices {
  readonly #host: BareMetalHost;
  readonly #access: Access;

  constructor(host: BareMetalHost, access: Access) {
    this.#host = host;
    this.#access = access;
  }

  async readFirmwareSettings(): Promise<FirmwareSettings> {
    const { server, inventory } = await this.#published();
    const { bios } = inventory.status ?? {};
    if (bios === undefined) throw new NotSupported('the BMC reports no BIOS attributes');
    const registry =
      bios.registry === undefined
        ? undefined
        : await this.#access.client.find(BIOSAttributeRegistry, { name: bios.registry });
    const { manufacturer, productName } = this.#host.status?.hardware?.systemVendor ?? {};
    return {
      settings: settingsOfHost(bios.attributes, objectsOfHost(this.#host, server, this.#access.caches), inventory),
      schema: schemaOf(registry),
      vendor: manufacturer,
      model: productName,
    };
  }

  async readFirmwareComponents(): Promise<readonly FirmwareComponentState[]> {
    const { caches } = this.#access;
    const { server, inventory } = await this.#published();
    const known = caches.firmwareComponents.get(this.#host.metadata)?.status?.components ?? [];
    return componentsOfServer(server, inventory, { known, objects: objectsOfHost(this.#host, server, caches) });
  }

  addEventSubscription = refuse('BMCEventSubscriptions');
  removeEventSubscription = refuse('BMCEventSubscriptions');
  readDataImage = refuse('DataImages');
  attachDataImage = refuse('DataImages');
  detachDataImage = refuse('DataImages');

  async #published() {
    const { client, caches, publishesFirmware } = this.#access;
    if (!publishesFirmware) throw new NotSupported('the operator reads no firmware: set --publish-firmware=true');
    const { server } = findHostObjects(this.#host, undefined, caches);
    if (server === undefined) throw new NodeUnknown('the host has no Server yet');
    const { name } = server.metadata;
    const isRead = caches.inventories.get(name)?.status?.firmware !== undefined;
    const inventory = isRead ? await client.find(ServerInventory, { name }) : undefined;
    if (inventory?.status?.firmware === undefined)
      throw new NodeBusy(`the firmware of Server ${name} is not read yet; that follows up to half an hour later`);
    return { server, inventory };
  }
}

function schemaOf(registry: BIOSAttributeRegistry | undefined): Record<string, SettingSchema> {
  const described = Object.entries(registry?.spec.attributes ?? {});
  return Object.fromEntries(described.map(([name, attribute]) => [name, settingSchemaOf(attribute)]));
}

type Attribute = BIOSAttributeRegistry['spec']['attributes'][string];

function settingSchemaOf({ type, values, readOnly, ...bounds }: Attribute): SettingSchema {
  const { lowerBound, upperBound, minLength, maxLength } = bounds;
  const limits = {
    allowable_values: values,
    lower_bound: lowerBound,
    upper_bound: upperBound,
    min_length: minLength,
    max_length: maxLength,
    read_only: readOnly,
  };
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  return { attribute_type: type, ...Object.fromEntries(given) };
}

const refuse = (what: string) => async (): Promise<never> => {
  throw new NotSupported(`the native provisioner has no ${what}: use annotation ${provisionerAnnotation}: ironic`);
};
