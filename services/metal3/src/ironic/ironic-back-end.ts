import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Random } from '../host/back-off.ts';
import type { BackEnd, HostAccess } from '../provisioner/back-end.ts';
import type { NodeServices } from '../provisioner/node-services.ts';
import type { Provisioner } from '../provisioner/provisioner.ts';
import { IronicConnection } from './http/ironic-connection.ts';
import { IronicProvisioner } from './ironic-provisioner.ts';
import { delaysWith } from './node/delays.ts';
import { NodeApi } from './node/node-api.ts';
import { type ParseNodeAddress, parseNodeAddress } from './node/node-address.ts';
import { NodeSession } from './node/node-session.ts';
import type { IronicOptions } from './options.ts';
import { IronicNodeServices } from './services/ironic-node-services.ts';

export interface IronicBackEndOptions {
  readonly options: IronicOptions;
  readonly clock: Clock;
  readonly random: Random;
  /** Why Ironic may not have the machine of a host, because the operator manages it; undefined: it may. */
  readonly rejectionOf?: (host: BareMetalHost) => string | undefined;
  /** Default: the addresses of BareMetalHosts. */
  readonly parseAddress?: ParseNodeAddress;
}

/** OpenStack Ironic as a back end. Its database is disposable: everything in it comes from the hosts. */
export class IronicBackEnd implements BackEnd, AsyncDisposable {
  readonly name = 'ironic';
  readonly #given: IronicBackEndOptions;
  readonly #connection: IronicConnection;

  constructor(given: IronicBackEndOptions) {
    this.#given = given;
    this.#connection = new IronicConnection(given.options, given.clock);
  }

  async provisionerOf(access: HostAccess): Promise<Provisioner> {
    const { options, rejectionOf, parseAddress = parseNodeAddress } = this.#given;
    const { host, signal } = access;
    return new IronicProvisioner({
      access,
      options,
      session: await this.#sessionOf(host, signal),
      address: parseAddress(host.spec.bmc?.address ?? ''),
      rejection: rejectionOf?.(host),
    });
  }

  async servicesOf(host: BareMetalHost): Promise<NodeServices> {
    return new IronicNodeServices(await this.#sessionOf(host, undefined), host);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }

  async #sessionOf({ status }: BareMetalHost, signal: AbortSignal | undefined): Promise<NodeSession> {
    const api = new NodeApi(await this.#connection.ready(), signal);
    return new NodeSession(api, delaysWith(this.#given.random), status?.provisioning.ID ?? '');
  }
}
