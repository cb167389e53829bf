import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import * as z from 'zod';
import {
  type EventSubscription,
  type FirmwareComponentState,
  type FirmwareSettings,
  NodeBusy,
  type NodeServices,
  NodeUnknown,
  NotSupported,
} from '../../provisioner/node-services.ts';
import { IronicError, isLocked } from '../http/ironic-error.ts';
import { type NodeSession, NodeUnregistered } from '../node/node-session.ts';
import { biosSettings, settingsOf } from './firmware-settings.ts';
import { componentsOf, firmwareComponents } from './firmware-components.ts';

type Request = Parameters<NodeSession['send']>[0];

const subscription = z.object({ Id: z.string() });
const media = z.array(z.object({ media_types: z.array(z.string()).nullish(), inserted: z.boolean().nullish() }));

/** Calls of Ironic for one host. Ironic answers what its driver cannot do with 400. */
export class IronicNodeServices implements NodeServices {
  readonly #session: NodeSession;
  readonly #host: BareMetalHost;

  constructor(session: NodeSession, host: BareMetalHost) {
    this.#session = session;
    this.#host = host;
  }

  async readFirmwareSettings(): Promise<FirmwareSettings> {
    const found = await this.#read(biosSettings, { method: 'GET', path: '/bios?detail=true' });
    const { manufacturer, productName } = this.#host.status?.hardware?.systemVendor ?? {};
    return { ...settingsOf(found), vendor: manufacturer, model: productName };
  }

  async readFirmwareComponents(): Promise<readonly FirmwareComponentState[]> {
    return componentsOf(await this.#read(firmwareComponents, { method: 'GET', path: '/firmware' }));
  }

  async addEventSubscription({ destination, context, httpHeaders }: EventSubscription): Promise<string> {
    const headers = Object.entries(httpHeaders).map(([name, value]) => ({ [name]: value }));
    const created = await this.#read(subscription, {
      method: 'POST',
      path: '/vendor_passthru?method=create_subscription',
      body: { Destination: destination, Context: context, HttpHeaders: headers },
      // Ironic repeats a rejected subscription in its message.
      secrets: Object.values(httpHeaders),
    });
    return created.Id;
  }

  async removeEventSubscription(id: string): Promise<void> {
    const path = '/vendor_passthru?method=delete_subscription';
    await this.#send({ method: 'DELETE', path, body: { id } }).catch((error: unknown) => {
      if (!isMissingSubscription(error)) throw error;
    });
  }

  async readDataImage(): Promise<{ readonly isAttached: boolean }> {
    if (!this.#session.api.has('readVirtualMedia'))
      throw new NotSupported('a DataImage needs API 1.93 of Ironic (26.1): upgrade Ironic');
    const devices = await this.#read(media, { method: 'GET', path: '/vmedia' });
    return { isAttached: devices.some((device) => device.inserted === true && isDisc(device.media_types ?? [])) };
  }

  async attachDataImage(url: string): Promise<void> {
    await this.#send({ method: 'POST', path: '/vmedia', body: { device_type: 'cdrom', image_url: url } });
  }

  async detachDataImage(): Promise<void> {
    await this.#send({ method: 'DELETE', path: '/vmedia?device_types=cdrom' });
  }

  async #read<T>(schema: z.ZodType<T>, request: Request): Promise<T> {
    const { body } = await this.#send(request);
    const result = schema.safeParse(body);
    if (result.success) return result.data;
    const reason = z.prettifyError(result.error).replaceAll('\n', ' ');
    throw new IronicError(`the answer of Ironic to ${request.method} ${request.path} is not as expected: ${reason}`);
  }

  async #send(request: Request) {
    try {
      return await this.#session.send(request);
    } catch (error) {
      if (error instanceof NodeUnregistered) throw new NodeUnknown(error.message, { cause: error });
      if (isLocked(error)) throw new NodeBusy('Ironic works on the node', { cause: error });
      if (isUnsupported(error)) throw new NotSupported(error.message, { cause: error });
      throw error;
    }
  }
}

const isDisc = (types: readonly string[]): boolean =>
  types.length === 0 || types.some((type) => /^(CD|DVD)$/i.test(type));

/** The interface of the driver, or the vendor method, does not exist. */
const isUnsupported = (error: unknown): error is IronicError =>
  error instanceof IronicError &&
  error.status === 400 &&
  /does not support|not supported|unsupported|no handler for method/i.test(error.message);

const isMissingSubscription = (error: unknown): boolean =>
  error instanceof IronicError && /404|not found/i.test(error.message);
