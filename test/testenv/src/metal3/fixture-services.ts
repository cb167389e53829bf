import type {
  EventSubscription,
  FirmwareComponentState,
  FirmwareSettings,
  NodeServices,
  NotSupported,
} from '@metal/metal3/provisioner/node-services.ts';

/** The plain calls of the fixture back end, for all of its hosts together. */
export class FixtureServices implements NodeServices {
  settings: FirmwareSettings = { settings: {}, schema: {}, vendor: 'Fixture', model: 'Machine' };
  /** Thrown instead of the settings, and of the state of the virtual drive. */
  unsupported: NotSupported | undefined;
  components: readonly FirmwareComponentState[] = [];
  readonly subscriptions = new Map<string, EventSubscription>();
  /** URL of the image in the virtual drive. */
  dataImage: string | undefined;
  #subscriptions = 0;

  async readFirmwareSettings(): Promise<FirmwareSettings> {
    if (this.unsupported !== undefined) throw this.unsupported;
    return this.settings;
  }

  readFirmwareComponents = async (): Promise<readonly FirmwareComponentState[]> => this.components;

  async addEventSubscription(subscription: EventSubscription): Promise<string> {
    const id = String((this.#subscriptions += 1));
    this.subscriptions.set(id, subscription);
    return id;
  }

  async removeEventSubscription(id: string): Promise<void> {
    this.subscriptions.delete(id);
  }

  async readDataImage(): Promise<{ readonly isAttached: boolean }> {
    if (this.unsupported !== undefined) throw this.unsupported;
    return { isAttached: this.dataImage !== undefined };
  }

  async attachDataImage(url: string): Promise<void> {
    this.dataImage = url;
  }

  async detachDataImage(): Promise<void> {
    this.dataImage = undefined;
  }
}
